insert into customer values ('ada', 'London', 10), ('emmy', 'Erlangen', 0), ('grace', 'Arlington', 5), ('sofja', 'Stockholm', 0);
