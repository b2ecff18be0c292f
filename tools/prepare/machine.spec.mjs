import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { allEnded, assertNode } from './machine.mjs';

it.each(['v20.19.0', 'v22.12.0', 'v24.0.0'])('accepts Node %s', (version) => {
  expect(() => assertNode(version)).not.toThrow();
});

it.each(['v18.19.0', 'v20.18.3', 'v21.7.0', 'v22.11.0'])(
  'reports at once that npm cannot install everything with Node %s',
  (version) => {
    expect(() => assertNode(version)).toThrow(
      `Belay needs Node 20.19, 22.12 or newer to install its packages, and this is ${version}:`,
    );
  },
);

it('reports a failed step once the others have ended', async () => {
  const other = Promise.withResolvers();
  let failure;
  const all = allEnded([Promise.reject(new Error('no engine')), other.promise]).catch(
    (error) => (failure = error),
  );
  await new Promise(setImmediate);
  expect(failure).toBeUndefined();
  other.resolve();
  await all;
  expect(failure).toEqual(new Error('no engine'));
  await expect(allEnded([1, Promise.resolve(2)])).resolves.toEqual([1, 2]);
});

describe('a command of these tools', () => {
  const run = (body) => {
    const script = `import { parseArgs } from 'node:util';
      import { runCommand } from '${join(__dirname, 'machine.mjs')}';
      await runCommand(async () => { ${body} });`;
    return spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
  };

  it('names a wrong option without a stack', () => {
    const { status, stderr } = run(`parseArgs({ args: ['--no-such'], options: {} });`);
    expect(stderr).toMatch(/^\nUnknown option '--no-such'/);
    expect(stderr).not.toContain('    at ');
    expect(status).toBe(1);
  });

  it('shows where any other error comes from', () => {
    const { status, stderr } = run(`throw Object.assign(new Error('broken'), { code: 7 });`);
    expect(stderr).toMatch(/^\nError: broken\n {4}at /);
    expect(status).toBe(1);
  });

  it('ends with the exit code that it returns', () => {
    expect(run('return 3;')).toMatchObject({ status: 3, stderr: '' });
    expect(run('')).toMatchObject({ status: 0, stderr: '' });
  });
});
