import { foreignCall } from './foreign-call.js';
import { lenientInput } from './lenient-input.js';
import { operations } from './operations/index.js';

/** The checked input of the operation that a call runs as. */
function runs(name: string, input: object) {
  const call = foreignCall(name, input);
  if (call === undefined || typeof call === 'string') return call;
  const operation = operations[call.operation];
  const { input: fields } = lenientInput(operation, call.input);
  return [call.operation, operation.input.parse(fields)];
}

it.each([
  [
    'Read',
    { file_path: 'a', offset: 3, limit: 2 },
    'files.read',
    { path: 'a', offset: 3, limit: 2 },
  ],
  ['Write', { file_path: 'a', content: 'x' }, 'files.write', { path: 'a', content: 'x' }],
  [
    'Edit',
    { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: true },
    'files.replace-text',
    { path: 'a', find: 'x', replace: 'y', all: true },
  ],
  [
    'MultiEdit',
    { file_path: 'a', edits: [{ old_string: 'x', new_string: 'y' }] },
    'files.replace-text',
    { path: 'a', find: 'x', replace: 'y' },
  ],
  [
    'Bash',
    { command: 'ls', timeout: 120_000, run_in_background: true },
    'terminal.run',
    { command: 'ls', timeout: 120, wait: 120, background: true },
  ],
  [
    'shell',
    { command: ['apply_patch', '*** Begin Patch'] },
    'files.patch',
    { patch: '*** Begin Patch' },
  ],
  ['shell', { command: ['bash', '-lc', 'ls | wc'] }, 'terminal.run', { command: 'ls | wc' }],
  [
    'functions.shell',
    { command: ['git', 'log', 'a b'], workdir: 'x y', timeout_ms: 1_500 },
    'terminal.run',
    { command: "cd 'x y' && git log 'a b'", timeout: 1.5 },
  ],
  ['exec_command', { cmd: 'ls', yield_time_ms: 500 }, 'terminal.run', { command: 'ls', wait: 0.5 }],
  [
    'Grep',
    { pattern: 'x', glob: '*.ts', '-i': true, '-C': 2, head_limit: 5 },
    'files.search',
    { pattern: 'x', name: '*.ts', ignoreCase: true, context: 2, limit: 5 },
  ],
  ['Glob', { pattern: '**/*.ts' }, 'files.search', { pattern: '', name: '**/*.ts' }],
  ['LS', { path: '/workspace' }, 'files.list', { path: '/workspace' }],
  ['apply_patch', { input: '*** Begin Patch' }, 'files.patch', { patch: '*** Begin Patch' }],
  [
    'TodoWrite',
    {
      todos: [
        { content: 'a', status: 'completed' },
        { content: 'b', status: 'pending' },
      ],
    },
    'plan.update',
    { markdown: '- [x] a\n- [ ] b' },
  ],
  [
    'update_plan',
    { plan: [{ step: 'a', status: 'pending' }] },
    'plan.update',
    { markdown: '- [ ] a' },
  ],
  ['WebSearch', { query: 'x' }, 'web.search', { query: 'x' }],
  [
    'str_replace_based_edit_tool',
    { command: 'view', path: 'a', view_range: [2, -1] },
    'files.read',
    { path: 'a', from: 2 },
  ],
  [
    'str_replace_editor',
    { command: 'str_replace', path: 'a', old_str: 'x' },
    'files.replace-text',
    { path: 'a', find: 'x', replace: '' },
  ],
  [
    'str_replace_based_edit_tool',
    { command: 'insert', path: 'a', insert_line: 0, insert_text: 'x\ny\n' },
    'files.edit',
    { path: 'a', change: 'INSERT', from: 1, content: ['x', 'y'] },
  ],
  [
    'str_replace_based_edit_tool',
    { command: 'create', path: 'a', file_text: 'x' },
    'files.write',
    { path: 'a', content: 'x' },
  ],
])('%s %j runs as %s', (name, input, operation, expected) => {
  expect(runs(name, input)).toMatchObject([operation, expected]);
});

it.each([
  ['Task', { prompt: 'x' }, 'There is no operation for other agents: do the work yourself.'],
  ['ExitPlanMode', { plan: '# x' }, expect.stringContaining('ask with `ask` for the approval')],
  ['MultiEdit', { edits: [{}, {}] }, expect.stringContaining('call files.replace-text for each')],
  ['str_replace_editor', { command: 'undo_edit' }, expect.stringContaining('There is no command')],
])('%s %j is told what to do instead', (name, input, sentence) => {
  expect(foreignCall(name, input)).toEqual(sentence);
});

it('an unknown name means nothing', () => {
  for (const name of ['', 'qqq', 'files.raed', 'constructor', 'mcp.github.search', 'action.bash'])
    expect(foreignCall(name, {})).toBeUndefined();
});
