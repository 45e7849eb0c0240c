create table item (id bigint primary key, name varchar(100) not null, cents bigint not null);
create table purchase (id bigint auto_increment primary key, customer varchar(100) not null, item bigint not null references item(id), pieces int not null);
create index purchase_customer on purchase(customer);
insert into item select x, 'item ' || x, 100 + mod(x * 37, 5000) from system_range(1, 500);
