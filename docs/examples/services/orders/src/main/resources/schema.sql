create table purchase (id bigint generated always as identity primary key, customer varchar not null);
create table line (purchase bigint not null, item bigint not null, pieces int not null);
