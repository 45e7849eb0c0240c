create table customer (name varchar primary key, city varchar not null, discount int not null);
