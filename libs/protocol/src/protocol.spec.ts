import { isCall } from './calls.js';
import { AppError, errorCodes, errorFrom } from './errors.js';
import { isEvent, newEvent } from './events.js';
import type { McpTool } from './mcp.js';
import { mcpOperation, mcpToolNamed } from './mcp-operation.js';
import { operationNamed, operations } from './operations/index.js';
import { mcpModelTool, modelTool, toolName } from './projections/model-tool.js';

describe('operations', () => {
  it.each(Object.entries(operations))(
    '%s is registered under its name and has a description',
    (name, operation) => {
      expect(operation.name).toBe(name);
      expect(operationNamed(name)).toBe(operation);
      expect(operation.title).toMatch(/^[A-Z]/);
      expect(operation.description).toMatch(/[.]$/);
      expect(operation.audience.length).toBeGreaterThan(0);
    },
  );

  it('become tools whose names providers take, each its own, with an object as input', () => {
    const tools = Object.values(operations).map(modelTool);
    for (const { name, parameters } of tools) {
      expect(name).toMatch(/^[\w-]{1,64}$/);
      expect(parameters).toMatchObject({ type: 'object' });
      expect(parameters).not.toHaveProperty('$schema');
    }
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
    expect(toolName('files.replace-text')).toBe('files_replace-text');
  });

  it('are not found under names that every object has', () => {
    expect(operationNamed('constructor')).toBeUndefined();
    expect(operationNamed('toString')).toBeUndefined();
  });
});

describe('tools of MCP servers', () => {
  const tool = (name: string, server = 'tools'): McpTool => ({
    server,
    name,
    description: 'Does it.',
    inputSchema: { type: 'object', properties: { odd: { $ref: '#/$defs/x' } } },
  });

  it('are called by their server and name, and offered as the server describes them', () => {
    const made = tool('create_issue', 'github');
    expect(mcpOperation(made)).toMatchObject({
      name: 'mcp.github.create_issue',
      risk: 'network',
      audience: ['model', 'user'],
    });
    expect(mcpModelTool(made)).toEqual({
      name: 'mcp_github_create_issue',
      description: 'Does it.',
      parameters: made.inputSchema,
    });
    const empty = { ...made, inputSchema: { type: 'object' } };
    expect(mcpModelTool(empty).parameters).toEqual({ type: 'object', properties: {} });
    expect(mcpToolNamed('mcp.github.a.b c')).toEqual({ server: 'github', name: 'a.b c' });
  });

  it('have names that providers take, each its own', () => {
    const names = ['a.b', 'a_b', 'a/b', 'ä', 'x'.repeat(200), `${'x'.repeat(199)}y`, 'a b'];
    const offered = [
      ...names.map((name) => tool(name)),
      tool('c', 'a-b'),
      tool('b-c', 'a'),
      ...names.map((name) => tool(name, 'a'.repeat(24))),
    ].map((one) => mcpModelTool(one).name);
    for (const name of offered) expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(new Set(offered).size).toBe(offered.length);
  });

  it('are calls, like operations; nothing else is', () => {
    const calls = ['files.read', 'mcp.tools.echo', 'tool.codex.exec', 'action.count'];
    const others = [
      'mcp',
      'mcp.',
      'mcp.tools.',
      'say',
      'mcp.A.b',
      'tool.codex',
      'tool.A.b',
      'tool..b',
    ];
    expect([...calls, ...others].filter(isCall)).toEqual(calls);
  });
});

describe('an error', () => {
  it('comes back from the wire as it went, and nothing else passes for one of ours', () => {
    const sent = new AppError('timeout', 'It took too long.', { seconds: 3 });
    const read = errorFrom(JSON.parse(JSON.stringify(sent)));
    expect(read).toBeInstanceOf(AppError);
    expect(read).toMatchObject({
      code: 'timeout',
      message: 'It took too long.',
      details: { seconds: 3 },
    });
    expect(errorFrom(new Error('a bug'))).toMatchObject({ code: 'internal', message: 'a bug' });
    expect(errorFrom({ code: 'invented', message: 'x' }).code).toBe('internal');
  });

  it('of every code has a status and an exit code', () => {
    for (const { http, exit } of Object.values(errorCodes)) {
      expect(http).toBeGreaterThanOrEqual(400);
      expect(exit).toBeGreaterThan(0);
    }
  });
});

describe('an event', () => {
  it('of a change holds only what was changed', () => {
    const { args } = newEvent('user', 'change', {
      args: { title: 'New' },
      message: 'Changed title.',
    });
    expect(args).toEqual({ title: 'New' });
  });

  it('is checked when it is made, with its defaults filled in', () => {
    const made = newEvent('user', 'message', { args: { text: 'Go on' }, message: 'Go on' });
    expect(made.args).toEqual({
      text: 'Go on',
      delivery: 'queue',
      pinned: false,
      images: [],
    });
    expect(isEvent({ ...made, seq: 1, time: '' }, 'message')).toBe(true);
    expect(() =>
      newEvent('server', 'state', { args: { state: 'lost' as never, reason: null }, message: '' }),
    ).toThrow();
  });
});
