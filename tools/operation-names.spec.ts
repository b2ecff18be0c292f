import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namesAskedIn, operationNames } from './operation-names.ts';
import { root } from './product-node.mjs';

describe('what sources know of operations', () => {
  it('are the traits of their definitions, and parsed outputs', () => {
    expect(operationNames(root)).toContain('terminal.run');
    expect(operationNames(root)).toContain('ask');
    expect(namesAskedIn(root)).toEqual([]);
  });

  it.each([
    "if (event.action === 'terminal.run') show();",
    "if ('files.read' !== operation) return;",
    "return name === 'ask';",
    "if (result.operation !== 'finish') return;",
    "case 'browser.open':",
    "const quiet = new Set(['think', 'plan.update']);",
    "return operation.startsWith('files.');",
    "if (action.startsWith('mcp.')) return;",
    "if (operation !== operations['web.search']) refuse();",
    'return operations.ask === operation;',
    'const { text } = result.args.output as { text: string };',
    'return (output as RunResult).exitCode;',
    "const page = (await client.sessions.call(id, 'files.read', input)) as Page;",
  ])('finds %s', (line) => {
    expect(found(line)).toEqual([`planted.ts:2: ${line}`]);
  });

  it.each([
    "const run = callOf(event, 'terminal.run');",
    "if (mode === 'ask') return;",
    "const handlers = { 'files.read': read };",
    "return operations['web.search'].input.parse(input);",
    "const page = await client.sessions.call(id, 'files.read', input);",
    "isEvent(event, 'result') && event.args.ok",
  ])('allows %s', (line) => {
    expect(found(line)).toEqual([]);
  });
});

/** The findings in a source that has this as its second line. */
function found(line: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'belay-names-'));
  try {
    const definitions = 'libs/protocol/src/operations';
    mkdirSync(join(folder, definitions), { recursive: true });
    const names = operationNames(root).map((name) => `  '${name}': defineOperation({`);
    writeFileSync(join(folder, definitions, 'all.ts'), names.join('\n'));
    writeFileSync(join(folder, 'planted.ts'), `//\n${line}\n`);
    return namesAskedIn(folder, ['planted.ts']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
