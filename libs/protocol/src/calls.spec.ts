import {
  callOf,
  calledOperation,
  describeCall,
  imagesOf,
  isCall,
  isPolling,
  outputOf,
  pathsOf,
  resultOf,
  runResultOf,
  subjectOf,
  summaryOf,
} from './calls.js';
import { newEvent, type Event } from './events.js';
import { mcpOperation } from './mcp-operation.js';
import { operations, type OperationOutput } from './operations/index.js';

const event = (action: string, args: Event['args']): Event => ({
  seq: 1,
  time: '2026-01-01T00:00:00Z',
  source: 'agent',
  action,
  args,
  message: action,
  id: 'call-1',
});

const ran: OperationOutput<'terminal.run'> = {
  text: 'ok',
  omittedBytes: 0,
  from: 0,
  to: 2,
  terminal: 'main',
  status: 'exited',
  exitCode: 0,
  seconds: 1,
  directory: '/workspace/src',
};

describe('the subject and the summary of a call', () => {
  const page = 'https://example.com/long/path';
  it.each([
    ['terminal.run', { command: 'npm test' }, 'npm test', 'npm test'],
    ['terminal.input', { text: 'y', keys: ['enter', 'ctrl-c'] }, 'y <enter> <ctrl-c>', null],
    ['terminal.input', { keys: ['enter'] }, '<enter>', null],
    ['terminal.interrupt', { terminal: 'web' }, 'web', null],
    ['files.write', { path: 'a.js', content: '' }, 'a.js', null],
    ['files.move', { from: 'a', to: 'b' }, 'a', 'a → b'],
    [
      'files.patch',
      { patch: '--- a/x.js\n+++ b/x.js\n@@\n--- "a/gr\\303\\266\\303\\237e.md"\n+++ /dev/null\n' },
      '',
      'x.js, größe.md',
    ],
    ['files.search', { pattern: 'TODO' }, '.', 'TODO'],
    ['files.search', { name: '*.ts', path: 'src' }, 'src', '*.ts'],
    ['browser.open', { url: 'localhost:80/x' }, 'localhost:80', 'localhost:80/x'],
    ['browser.open', { url: 'https://a.org/x' }, 'a.org:443', 'https://a.org/x'],
    ['web.fetch', { url: 'http://a.org:8080/x' }, 'a.org:8080', 'http://a.org:8080/x'],
    ['browser.click', { element: 'e3' }, 'example.com:443', 'e3'],
    ['browser.click', { x: 3, y: 4 }, 'example.com:443', '3, 4'],
    ['browser.type', { text: 'hi', element: 'e1' }, 'example.com:443', 'hi'],
    ['browser.read', {}, 'example.com:443', null],
    ['web.search', { query: 'belay' }, 'belay', null],
    ['ask', { question: 'Why?' }, 'Why?', null],
    ['system.time', {}, '', null],
    ['mcp.git.log', { limit: 3 }, '{"limit":3}', null],
  ])('%s of %j', (name, input, subject, summary) => {
    expect(subjectOf(name, input, page)).toBe(subject);
    expect(summaryOf(name, input, page)).toBe(summary ?? subject);
  });

  it('is nothing where only the agent knows the page', () => {
    expect(subjectOf('browser.click', { element: 'e3' })).toBe('');
  });

  it('of an input that is not valid is the whole of it, and never a part', () => {
    const input = { command: 'npm test', wait: 'long' };
    expect(subjectOf('terminal.run', input)).toBe(JSON.stringify(input));
    expect(subjectOf('terminal.run', { ...input, wait: 30 })).toBe('npm test');
    expect(subjectOf('terminal.walk', input)).toBe(JSON.stringify(input));
  });

  it('is told in one line', () => {
    const words = describeCall(operations['terminal.run'], { command: 'echo a\n  echo b' });
    expect(words).toBe('terminal.run echo a echo b');
    const long = describeCall(operations['terminal.run'], { command: 'x'.repeat(500) });
    expect(long).toHaveLength(200);
  });
});

describe('traits of operations', () => {
  const named = (trait: (operation: (typeof all)[number]) => boolean): string[] =>
    all.filter(trait).map(({ name }) => name);
  const all = Object.values(operations);

  it('say which may run beside others: reads that have no order among them', () => {
    const beside = named(({ concurrent }) => concurrent);
    expect(beside).toContain('files.read');
    expect(beside).toContain('think');
    expect(named(({ concurrent, risk }) => concurrent && risk !== 'read')).toEqual([]);
    for (const name of ['ask', 'finish', 'plan.update', 'browser.read', 'browser.console'])
      expect(beside).not.toContain(name);
  });

  it('say which may change files', () => {
    const still = named(({ changesFiles, risk }) => !changesFiles && risk !== 'read');
    expect(still).toEqual([]);
    expect(named(({ changesFiles, risk }) => changesFiles && risk === 'read')).toEqual([
      'terminal.read',
      'terminal.list',
    ]);
    expect(calledOperation('mcp.git.log')).toMatchObject({ changesFiles: false });
    expect(named(({ commitsItself }) => commitsItself)).toEqual([
      'workspace.rewind',
      'workspace.undo',
    ]);
  });

  it('say which calls of the user leave no trace', () => {
    expect(operations['files.read'].quiet({} as never)).toBe(true);
    expect(operations['files.remove'].quiet({} as never)).toBe(false);
    const commit = 'abcdef0';
    expect(operations['workspace.rewind'].quiet({ commit, preview: true })).toBe(true);
    expect(operations['workspace.rewind'].quiet({ commit, preview: false })).toBe(false);
    expect(operations['workspace.trust'].quiet({ preview: false })).toBe(false);
  });

  it('say which wait for something', () => {
    expect(isPolling('terminal.read', {})).toBe(true);
    expect(isPolling('browser.wait', {})).toBe(true);
    expect(isPolling('terminal.run', { command: ' sleep 30s ' })).toBe(true);
    expect(isPolling('terminal.run', { command: 'sleep 1; make' })).toBe(false);
    expect(isPolling('terminal.run', 'sleep 30')).toBe(false);
    expect(isPolling('nothing', {})).toBe(false);
    expect(named(({ idle }) => idle)).toEqual(['plan.update', 'think', 'report']);
    expect(named(({ servedBy }) => servedBy === 'loop')).toEqual(['ask', 'finish']);
  });

  it('return the paths that a call is about, and those it changed', () => {
    const patched = { files: [{ path: 'a.js', added: 1, removed: 0, offsets: [] }] };
    const patch = operations['files.patch'];
    expect(pathsOf(patch, { patch: 'x' }, patched)).toEqual(['a.js']);
    expect(pathsOf(patch, { patch: 'x' }, { code: 'conflict', message: 'No.' })).toEqual([]);
    expect(pathsOf(patch, { patch: 'x' })).toEqual([]);
    expect(pathsOf(operations['files.move'], { from: 'a', to: 'b' })).toEqual(['a', 'b']);
    expect(pathsOf(operations['terminal.run'], { command: 'x' }, ran)).toEqual(['/workspace/src']);
    expect(pathsOf(operations['terminal.run'], { command: 'x' })).toEqual([]);
    expect(pathsOf(operations['workspace.show'], { path: 'a' })).toEqual([]);
  });

  it('say which pictures a model is shown', () => {
    const shot = { url: 'http://a/', image: 'b'.repeat(64), width: 1, height: 1 };
    expect(imagesOf(operations['browser.screenshot'], shot)).toEqual([shot.image]);
    expect(imagesOf(operations['browser.screenshot'], { image: 3 })).toEqual([]);
    const tool = mcpOperation({ server: 'a', name: 'draw', description: '' });
    expect(imagesOf(tool, { text: '', images: [`${'0'.repeat(64)}`] })).toHaveLength(1);
  });
});

describe('an event of a call', () => {
  it('is known by its action, whatever is called', () => {
    const names = ['files.read', 'mcp.tools.echo', 'mcp', 'say', 'result', 'toString'];
    expect(names.filter(isCall)).toEqual(['files.read', 'mcp.tools.echo']);
  });

  it('gives its input, typed and with its defaults', () => {
    const call = callOf(event('terminal.run', { command: 'ls' }), 'terminal.run');
    expect(call?.args).toMatchObject({ command: 'ls', wait: 30, terminal: 'main' });
    expect(call?.id).toBe('call-1');
    expect(callOf(event('terminal.run', {}), 'terminal.run')).toBeUndefined();
    expect(callOf(event('files.read', { path: 'a' }), 'terminal.run')).toBeUndefined();
  });

  it('has a result with its output, typed and checked', () => {
    const result = (operation: string, output: unknown, ok = true): Event => {
      const args = { operation, ok, output, seconds: 1 };
      return { ...event('result', {}), ...newEvent('agent', 'result', { args, message: '' }) };
    };
    expect(resultOf(result('terminal.run', ran), 'terminal.run')?.exitCode).toBe(0);
    expect(resultOf(result('terminal.run', { text: 3 }), 'terminal.run')).toBeUndefined();
    expect(resultOf(result('terminal.run', ran, false), 'terminal.run')).toBeUndefined();
    expect(resultOf(result('terminal.read', ran), 'terminal.run')).toBeUndefined();
    expect(resultOf(event('terminal.run', ran), 'terminal.run')).toBeUndefined();
    const read = { operation: 'terminal.read', ok: true, output: ran };
    expect(outputOf('terminal.read', read)).toEqual(ran);
    expect(runResultOf(read)).toEqual(ran);
    expect(runResultOf({ ...read, operation: 'files.read' })).toBeUndefined();
    expect(runResultOf({ ...read, ok: false })).toBeUndefined();
  });
});
