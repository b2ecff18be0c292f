import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forbiddenImports } from './layers.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));
const isSource = (path: string) => !/\/(node_modules|dist|fixtures)$/.test(path);

describe('the rules for imports', () => {
  let copy: string;
  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'belay-layers-'));
    for (const folder of ['apps', 'libs', 'evaluation']) {
      cpSync(join(repository, folder), join(copy, folder), { recursive: true, filter: isSource });
    }
    symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
  });
  afterEach(() => rmSync(copy, { recursive: true }));

  it('find each import that violates them, and nothing else in the repository', () => {
    const planted: [file: string, target: string, rule: string][] = [
      ['apps/server/src/storage/planted.ts', '../sessions/search.js', 'apps/server/src: storage'],
      ['apps/server/src/mcp/planted.ts', '../api/problem.js', 'apps/server/src: mcp'],
      ['apps/server/src/planted/planted.ts', '../config.js', 'every folder has a layer'],
      ['apps/agent/src/plan/planted.ts', '../../../server/src/config.js', 'packages: apps/agent'],
      ['apps/agent/src/files/planted.ts', '../history/history.js', 'apps/agent/src: browser'],
      [
        'evaluation/src/suites/planted.ts',
        '../results/journal.js',
        'evaluation/src: engine, suites',
      ],
      ['apps/web/src/lib/planted.ts', '@belay/rpc', 'packages: apps/web'],
      ['apps/web/src/lib/planted-up.ts', '@/components/connection-status', 'apps/web/src: lib'],
      ['apps/web/src/components/planted.ts', '@/app/app-shell', 'apps/web/src: components'],
      [
        'apps/web/src/features/session-log/planted.ts',
        '../session/dock-store',
        'apps/web/src: features/session-log',
      ],
      [
        'apps/web/src/features/chat/planted.ts',
        '@/features/code/code-panel',
        'features/terminal, features/timeline, features/usage apart',
      ],
      ['apps/web/src/features/code/planted.tsx', '@/features/session/dock', 'features/usage'],
      ['apps/web/src/features/fleet/planted.ts', '../settings/model-row', 'settings apart'],
      ['apps/web/src/app/planted.ts', '../player/recorded-server', 'apps/web/src: app'],
      ['libs/client/src/planted.ts', '@belay/evaluation', 'packages: libs/client'],
      ['libs/testkit/src/planted.ts', '@belay/rpc', 'packages: libs/testkit'],
      ['libs/testkit/src/built.ts', '../../../apps/server/dist/built.js', 'packages: libs/testkit'],
      ['libs/rpc/src/planted.ts', './nowhere.js', 'no-unresolvable'],
    ];
    for (const [file, target] of planted) plant(join(copy, file), target);
    plant(join(copy, 'apps/server/dist/built.js'), './other.js');
    plant(join(copy, 'libs/client/src/circle-a.ts'), './circle-b.js');
    plant(join(copy, 'libs/client/src/circle-b.ts'), './circle-a.js');
    const found = forbiddenImports(copy);
    for (const [from, , rule] of planted) {
      expect(found).toContainEqual(
        expect.objectContaining({ from, rule: expect.stringContaining(rule) }),
      );
    }
    expect(found).toContainEqual(expect.objectContaining({ rule: 'no-circular' }));
    const circle = ['a', 'b'].map((name) => `libs/client/src/circle-${name}.ts`);
    const files = new Set([...planted.map(([file]) => file), ...circle]);
    expect(found.filter(({ from }) => !files.has(from))).toEqual([]);
  });
});

function plant(file: string, target: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    `import type * as planted from '${target}';\nexport type Planted = typeof planted;\n`,
  );
}
