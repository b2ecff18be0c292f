// Plays `belay eval` for tests of the server: it does what the file that it gets as data says, and
// reports to the server like the real one.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const unscored = { phase: 'trials', checks: null, score: null, validity: null };
const [, command, ...rest] = process.argv.slice(2);
if (command === 'data') describe(rest.filter((arg) => arg !== '--json'));
else await run(rest);

/** A file contains its description. */
function describe(paths) {
  const unknown = { suite: null, tasks: 0, problem: 'No suite reads it.' };
  const all = paths.map((path) => ({
    path,
    ...(statSync(path).isFile() ? JSON.parse(readFileSync(path, 'utf8')).described : unknown),
  }));
  process.stdout.write(JSON.stringify(all));
}

async function run(args) {
  const option = (name) =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(`--${name}=`.length) ?? '';
  const { plays } = JSON.parse(readFileSync(option('data'), 'utf8'));
  const { BELAY_DATA: data = '', BELAY_TOKEN: token } = process.env;
  // Where the test finds what it was given.
  writeFileSync(join(data, 'given.json'), JSON.stringify({ args, env: process.env }));
  if (plays.startsWith('fails: ')) return fail(plays.slice('fails: '.length), 1);
  const { url } = JSON.parse(readFileSync(join(data, 'server.json'), 'utf8'));
  const send = async (method, path, content) => {
    const body = JSON.stringify(content);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const request = { method, headers, body };
    const response = await fetch(url + path, request);
    return response.status === 204 ? {} : response.json();
  };
  const at = `/api/evaluations/${option('board-id')}`;
  const run = { suite: args[0], agent: option('agent'), model: null, attempts: 1, host: 'here' };
  const created = new Date().toISOString();
  const { epoch } = await send('PUT', at, { ...run, tasks: ['a'], folder: option('out'), created });
  const report = (state, reason) =>
    send('POST', `${at}/reports`, { epoch, progress: { ...unscored, state, reason } });
  process.once('SIGINT', () => {
    void report('interrupted', 'It was interrupted.').then(() => fail('Interrupted.', 130));
  });
  // Its channel is closed when the server ends.
  process.once('disconnect', () => process.exit(130));
  await report('running', null);
  if (plays !== 'finishes') return;
  await report('finished', null);
  process.exit(0);
}

function fail(sentence, code) {
  process.stderr.write(`a line before\n${sentence}\n`);
  process.exit(code);
}
