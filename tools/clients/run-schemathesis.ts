import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../prepare/run-program.mjs';
import { words } from './generated-clients.ts';

/** Operations that cannot be part of a run: streams that do not end, and what would end the run's own access. */
const left = [
  ...words(
    'sessions.stream mcpServer.send mcpServer.listen tokens.rotate tokens.revoke server.endLogins',
  ),
];

/**
 * The expectations of checks that know only the document. Some rules are known only to the server, such as which models
 * are set up, and refuse a valid input with 400; 502 and 503 say that something outside of the server failed. A response may
 * take the minute that a request can wait for events.
 */
const settings = `
headers = { Authorization = "Bearer \${BELAY_TOKEN}" }

[checks]
max_response_time = 75
positive_data_acceptance.expected-statuses = ["2xx", "3xx", "4xx", "502", "503", "507"]
negative_data_rejection.expected-statuses = ["4xx", "502", "503", "507"]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "502", "503", "507"]
`;

/**
 * Sends at least this many requests of all kinds, with all checks of schemathesis. Throws what it finds, or that one of
 * its runs took longer than `timeout` milliseconds.
 */
export async function runSchemathesis(
  { url, token }: { url: string; token: string },
  {
    document,
    folder,
    python,
    cases,
    timeout,
  }: Record<'document' | 'folder' | 'python', string> & Record<'cases' | 'timeout', number>,
): Promise<void> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'schemathesis.toml'), settings);
  for (let sent = 0, run = 1; sent < cases; run += 1) {
    const output = await runProgram(
      join(python, 'bin/schemathesis'),
      [
        ...words('--config-file schemathesis.toml run'),
        document,
        '--url',
        url,
        ...words('--checks all --seed'),
        String(run),
        ...words('--max-examples 25 --no-color --request-timeout 90 --suppress-health-check all'),
        ...left.flatMap((id) => ['--exclude-operation-id', id]),
      ],
      { cwd: folder, env: { ...process.env, BELAY_TOKEN: token }, timeout, lines: 400 },
    );
    const generated = Number(/(\d[\d,]*) generated/.exec(output)?.[1]?.replaceAll(',', ''));
    if (!(generated > 0)) throw new Error(`schemathesis sent nothing:\n${output}`);
    sent += generated;
  }
}
