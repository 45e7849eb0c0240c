-- Who called what of whom. As `instrument merge --report services`.
SELECT coalesce(process_name(c.program, c.pid), client_address, 'unknown') AS client,
       coalesce(process_name(s.program, s.pid), server_address, 'unknown') AS server,
       r.method, sum(made) AS made, sum(served) AS served, sum(matched) AS matched, sum(failed) AS failed,
       sum(client_ns) AS client_ns, max(client_max_ns) AS client_max_ns,
       sum(server_ns) AS server_ns, max(server_max_ns) AS server_max_ns
FROM remote_calls r
LEFT JOIN processes c ON c.process = r.client
LEFT JOIN processes s ON s.process = r.server
GROUP BY ALL
ORDER BY greatest(sum(client_ns), sum(server_ns)) DESC, made DESC, client, server, method
LIMIT getvariable('top');
