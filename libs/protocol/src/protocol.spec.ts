import { AppError, errorCodes, errorFrom } from './errors.js';
import { fact, isFact } from './events.js';
import { operationNamed, operations } from './operations/index.js';
import { modelTool, toolName } from './projections/model-tool.js';

describe('operations', () => {
  it.each(Object.entries(operations))(
    '%s is filed under its name and says what it is',
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

describe('a fact', () => {
  it('is checked when it is made, with its defaults filled in', () => {
    const made = fact('user', 'message', { args: { text: 'Go on' }, message: 'Go on' });
    expect(made.args).toEqual({ text: 'Go on', delivery: 'queue', pinned: false, images: [] });
    expect(isFact({ ...made, seq: 1, time: '' }, 'message')).toBe(true);
    expect(() =>
      fact('server', 'state', { args: { state: 'lost' as never, reason: null }, message: '' }),
    ).toThrow();
  });
});
