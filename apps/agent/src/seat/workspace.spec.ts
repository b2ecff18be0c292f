import { describeSeat } from '../testing/describe-seat.js';
import type { Situation } from '../testing/seat.js';

const task = 'Do it';
/** One reply in a real workspace, and what it is told. */
const one = (
  name: string,
  calls: { operation: string; input: object }[],
  told: string | RegExp,
): Situation => ({
  name,
  files: { 'a.txt': 'one\ntwo\nthree\n', 'src/b.txt': 'b\n' },
  turns: () => [{ calls }],
  told: [task, told],
});
const call = (operation: string, input: object) => ({ operation, input });
const read = call('files.read', { path: 'a.txt' });
const run = (command: string, more: object = {}) => call('terminal.run', { command, ...more });
const names = (operations: readonly string[] | undefined) =>
  (operations ?? []).filter((name) => name.startsWith('browser.'));
const waiting = 'until test -e go; do sleep 0.1; done; echo ready; exit 7';
const page = { url: 'http://localhost/', title: '', text: 'Hi', truncated: false, notes: [] };

describeSeat('its workspace', [
  one('I read a file: its lines have numbers', [read], /content:\n1\tone\n2\ttwo\n3\tthree$/),
  one(
    'I read two files in one reply: both are there, in order',
    [read, call('files.read', { path: 'src/b.txt' })],
    /1\tone\n[^]*\n---\nfiles.read: [^]*1\tb$/,
  ),
  one(
    'I read a file that is not there',
    [call('files.read', { path: 'no.txt' })],
    /^files.read failed: [^]*no\.txt/,
  ),
  one(
    'I read outside of the workspace',
    [call('files.read', { path: '../x' })],
    /^files.read failed: /,
  ),
  one('a command exits with a code', [run('echo hello; (exit 3)')], /"exitCode":3[^]*hello/),
  one('a command prints nothing', [run('true')], /"exitCode":0/),
  one(
    'my shell keeps its directory',
    [run('cd src'), run('pwd')],
    /\/src"[^]*\n---\nterminal.run: [^]*\/src/,
  ),
  one('a quote is never closed: nothing hangs', [run("echo 'x")], /^terminal.run/),
  one(
    'a server is told as running in the background',
    [run('sleep 300', { background: true })],
    /"status":"background"/,
  ),
  {
    name: 'a background command ends while I work: I am told how',
    files: {},
    turns: ({ stage }) => [
      { calls: [run(waiting, { background: true })] },
      { calls: [call('files.write', { path: 'go', content: '' })] },
      async () => {
        await stage.event('exit');
        return { calls: [call('think', { thought: 'x' })] };
      },
    ],
    also: ({ told }) =>
      expect(told.join('\n')).toMatch(
        /\[Belay, not the user\] The background command `until test -e go; .* exit 7` of the terminal main ended with exit code 7[^]*\n> .*ready/,
      ),
  },
  {
    name: 'only opening a page is offered until I open one; then all of the browser',
    handlers: {
      'browser.open': async () => page as never,
      'files.read': async () => ({}) as never,
    },
    turns: () => [
      { calls: [read] },
      { calls: [call('browser.open', { url: 'http://localhost/' })] },
      { calls: [read] },
    ],
    also: ({ stage }) => {
      const [first, second, third, fourth] = stage.requests.map(({ operations }) => operations);
      expect(names(first)).toEqual(['browser.open']);
      expect(second).toEqual(first);
      expect(names(third).length).toBe(15);
      expect(fourth).toEqual(third);
    },
  },
]);
