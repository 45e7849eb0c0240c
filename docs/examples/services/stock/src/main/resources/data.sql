insert into item values (1, 'pencil', 120, 1000), (2, 'notebook', 450, 1000), (3, 'ink', 990, 1000), (4, 'desk', 24900, 20), (5, 'lamp', 7900, 1000);
