import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { put } from '@belay/testkit';
import { readServerFile } from './server-file.js';

describe('a server.json', () => {
  let prefix: string;
  beforeEach(() => (prefix = mkdtempSync(join(tmpdir(), 'belay-npm-'))));
  afterEach(() => rmSync(prefix, { recursive: true }));

  /** A package as `npm install --global` leaves it. */
  function install(name: string, program: string): void {
    const folder = `lib/node_modules/${name}`;
    const file = join(prefix, folder, 'run.js');
    put(prefix, `${folder}/package.json`, JSON.stringify({ name, bin: { [program]: 'run.js' } }));
    put(prefix, `${folder}/run.js`, '#!/usr/bin/env node\nconsole.log(process.argv.slice(2));\n');
    chmodSync(file, 0o755);
    put(prefix, 'bin/README', '');
    symlinkSync(file, join(prefix, 'bin', program));
  }

  it.each([
    ['named as the package', 'plain-mcp', 'plain-mcp'],
    ['named differently', 'other-mcp', 'serve-other'],
    ['of a scope', '@example/time-mcp', 'time-server'],
  ])('starts a package of npm whose program is %s', (_, name, program) => {
    install(name, program);
    const packages = [
      {
        registryType: 'npm',
        identifier: name,
        packageArguments: [{ type: 'named', name: '--zone', value: 'UTC' }],
      },
    ];
    const content = Buffer.from(JSON.stringify({ name: 'a/b', description: 'Time.', packages }));
    const { manifest } = readServerFile({ content, where: 'server.json', folder: '', files: [] });
    // The prefix stands for the image’s.
    const [command = '', ...args] = (manifest.command ?? []).map((word) =>
      word.replace('/usr/local', prefix),
    );
    const env = {
      ...process.env,
      PATH: [join(prefix, 'bin'), process.env['PATH']].join(delimiter),
      npm_config_offline: 'true',
      npm_config_cache: join(prefix, 'cache'),
    };
    expect(execFileSync(command, args, { env, encoding: 'utf8' })).toContain("'--zone', 'UTC'");
  });

  it('says which of its fields are not used', () => {
    const packages = [
      {
        registryType: 'npm',
        identifier: 'a',
        runtimeArguments: [{ type: 'positional', value: 'x' }],
      },
    ];
    const content = Buffer.from(JSON.stringify({ name: 'a/b', description: 'Time.', packages }));
    const { warnings } = readServerFile({ content, where: 'server.json', folder: '', files: [] });
    expect(warnings).toEqual([
      expect.stringContaining('has no network'),
      expect.stringContaining('runtimeArguments, which are not used'),
    ]);
  });
});
