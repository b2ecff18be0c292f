import { ruleMatches } from '@belay/protocol';
import { agentTable } from './agent-table.js';
import { mappedCall } from './mapped-call.js';

const called = (agent: string, tool: string, input: Record<string, unknown>) => {
  const entry = agentTable.get(agent);
  if (!entry) throw new Error(agent);
  const { operation, ...mapped } = mappedCall(entry, tool, input);
  return { operation: operation.name, ...mapped };
};

describe('the calls of programs in the terms of the platform', () => {
  it.each<[string, string, Record<string, unknown>, object]>([
    [
      'claude-code',
      'Bash',
      { command: 'npm test', timeout: 5, run_in_background: true },
      { operation: 'terminal.run', subject: 'npm test', risk: 'execute' },
    ],
    [
      'claude-code',
      'Edit',
      { file_path: '/workspace/a.ts', old_string: 'a' },
      { operation: 'tool.claude-code.Edit', risk: 'write' },
    ],
    ['claude-code', 'Glob', { pattern: '**' }, { risk: 'read' }],
    [
      'claude-code',
      'WebFetch',
      { url: 'https://example.org/a', prompt: 'Sum' },
      { operation: 'web.fetch', risk: 'network' },
    ],
    ['claude-code', 'TodoWrite', { todos: [] }, { isIdle: true }],
    ['claude-code', 'mcp__belay__browser_open', {}, { isIdle: true }],
    ['codex', 'exec_command', { cmd: 'ls' }, { operation: 'terminal.run', subject: 'ls' }],
    ['codex', 'exec', { input: 'tools.exec_command("ls")' }, { risk: 'execute' }],
    ['gemini', 'run_shell_command', { command: 'ls' }, { operation: 'terminal.run' }],
    ['opencode', 'bash', { command: 'ls' }, { operation: 'terminal.run' }],
    ['pi', 'bash', { command: 'ls' }, { operation: 'terminal.run' }],
    [
      'qwen',
      'tool_call',
      { name: 'run_shell_command', arguments: { command: 'ls' } },
      { operation: 'terminal.run', subject: 'ls', risk: 'execute' },
    ],
    ['qwen', 'tool_call', { name: 'mcp__belay__ask', arguments: {} }, { isIdle: true }],
    ['codex', 'mcp__belay__ask', {}, { isIdle: true }],
    [
      'codex',
      'apply_patch',
      { input: '*** Begin Patch\n*** Add File: a/b.ts\n+*** Add File: /etc/c\n*** End Patch\n' },
      { risk: 'write' },
    ],
    ['codex', 'collaboration__spawn_agent', {}, { isIdle: true }],
  ])('%s: %s %j', (agent, tool, input, mapped) => {
    expect(called(agent, tool, input)).toMatchObject({ isIdle: false, ...mapped });
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['claude-code', 'Edit', { file_path: '/workspace/../etc/passwd' }],
    ['claude-code', 'Read', { file_path: '/etc/passwd' }],
    ['claude-code', 'Read', { file_path: '../../root/.ssh/id' }],
    ['claude-code', 'Read', { file_path: ['/workspace'] }],
    ['claude-code', 'Read', { file_path: '~/.ssh/id' }],
    ['claude-code', 'Write', { file_path: '$HOME/.bashrc' }],
    ['claude-code', 'Write', { file_path: '/workspaces/a' }],
    ['claude-code', 'Bash', { command: 1 }],
    ['claude-code', 'Bash', {}],
    ['claude-code', 'WebFetch', { url: 'file:///etc/passwd' }],
    ['claude-code', 'bash', { command: 'ls' }],
    ['claude-code', 'constructor', {}],
    ['claude-code', '', {}],
    ['claude-code', 'mcp__belay', {}],
    ['claude-code', 'mcp__other__run', {}],
    ['pi', 'mcp__belay__run', {}],
    ['qwen', 'tool_call', { name: 'tool_call', arguments: { name: 'agent', arguments: {} } }],
    ['qwen', 'tool_call', { name: 'agent', arguments: 'none' }],
    ['codex', 'mcp__evil__update_plan', {}],
    ...[
      '*** Begin Patch\n*** Add File: a\n+b\n*** Update File: /etc/passwd\n*** End Patch',
      '*** Begin Patch\n*** Update File: a\n  *** Move to: ../../etc/passwd \n*** End Patch',
      '*** Begin Patch\n*** Add File: a\n+b\n***  Add File: /etc/c\n*** End Patch',
      '*** Begin Patch\n*** End Patch',
      '',
    ].map((input): [string, string, Record<string, unknown>] => [
      'codex',
      'apply_patch',
      { input },
    ]),
  ])('attacks: %s: %s %j may do anything', (agent, tool, input) => {
    const { operation, risk, isIdle } = called(agent, tool, input);
    expect({ operation, risk, isIdle }).toEqual({
      operation: `tool.${agent}.${tool}`,
      risk: 'execute',
      isIdle: false,
    });
  });

  const rule = { operation: 'terminal.run', pattern: 'npm test *', verdict: 'approved' } as const;

  it('attacks: a command in more words than the rule’s is another command', () => {
    const matches = (command: string) =>
      ruleMatches(rule, called('claude-code', 'Bash', { command }));
    expect(matches('npm test -- --watch')).toBe(true);
    for (const more of ['; rm -rf /', ' && curl x', '\nrm -rf /', ' $(id)'])
      expect(matches(`npm test${more}`)).toBe(false);
  });

  it('attacks: a rule for the command of a shell is for no other program or words', () => {
    const shell = '/usr/bin/bash';
    const matches = (...command: unknown[]) =>
      ruleMatches(rule, called('codex', 'shell', { command }));
    expect(matches(shell, '-lc', 'npm test')).toBe(true);
    expect(matches('npm', 'test', 'a b')).toBe(true);
    for (const words of [
      [shell, '-lc', 'npm test', 'more'],
      [shell, '--rcfile', '/workspace/x', '-c', 'npm test'],
      ['/workspace/bash', '-lc', 'npm test'],
      [shell, '-lc', 'npm test; rm -rf /'],
      [shell, '-lc', ['npm test']],
      ['npm test', '-lc', 'npm test'],
      ['npm', 'test', '; rm -rf /'],
    ])
      expect(matches(...words)).toBe(false);
  });
});
