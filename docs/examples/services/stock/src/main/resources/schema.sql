create table item (id bigint primary key, name varchar not null, cents bigint not null, pieces int not null);
