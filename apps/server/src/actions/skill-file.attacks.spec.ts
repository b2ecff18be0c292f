import { actionOperation, operations, toolName, type Operation } from '@belay/protocol';
import { processorMs } from '@belay/testing';
import type { ActionFile } from './action-files.js';
import { findActions } from './find-actions.js';
import { actionFile } from './testing/action-files.js';

const honest = '---\nname: notes\ndescription: Takes notes.\n---\nWrite them down.\n';
const found = (content: string, ...more: ActionFile[]) =>
  findActions([actionFile('notes/SKILL.md', content), ...more]);
const faultOf = (content: string, ...more: ActionFile[]): string => {
  const { actions, faults } = found(content, ...more);
  return faults[0]?.fault ?? `It was taken: ${JSON.stringify(actions[0]?.manifest)}`;
};
const withFields = (fields: string) => `---\n${fields}\n---\nText.\n`;

describe('attacks: skills', () => {
  it('takes an honest one, with other fields of the format and YAML of several lines', () => {
    expect(found(honest)).toMatchObject({ faults: [], actions: [{ kind: 'skill' }] });
    const rich = withFields(
      'name: notes\ndescription: >-\n  Takes notes\n  of talks.\nlicense: MIT\ncompatibility: Needs git.\nmetadata:\n  author: me\nallowed-tools: Bash(git:*) Read',
    );
    expect(found(rich).actions[0]?.manifest).toMatchObject({
      name_for_model: 'notes',
      description_for_human: 'Takes notes of talks.',
      description_for_model: 'Takes notes of talks.\nNeeds: Needs git.',
    });
    expect(found(honest.replaceAll('\n', '\r\n')).actions).toHaveLength(1);
    const elsewhere = findActions([actionFile('other/SKILL.md', honest)]).actions[0];
    expect(elsewhere?.warnings).toEqual([
      'other/SKILL.md is called notes, but its folder is other.',
    ]);
  });

  it('names the field that is wrong', () => {
    for (const [fields, sentence] of [
      ['description: x', 'the field name is missing'],
      ['name: notes', 'the field description is missing'],
      ['name: notes\ndescription: ""', 'description: it is empty'],
      [`name: notes\ndescription: ${'x'.repeat(1_025)}`, 'description: at most 1,024'],
      [`name: ${'a'.repeat(65)}\ndescription: x`, 'name: at most 64'],
      ['name: ../../etc\ndescription: x', 'name: lowercase letters'],
      ['name: -notes\ndescription: x', 'name: lowercase letters'],
      ['name: no--tes\ndescription: x', 'name: lowercase letters'],
      ['name: Notes\ndescription: x', 'name: lowercase letters'],
      ['name: 7\ndescription: x', 'name: Invalid input'],
      ['- name: notes', 'expected object'],
      ['name: notes\ndescription: x: y: z', 'is not YAML'],
    ] as const)
      expect(faultOf(withFields(fields))).toContain(sentence);
    expect(faultOf('# No front matter\n')).toContain('does not begin with front matter');
  });

  it('reads no bomb: neither by aliases, nor by depth, nor by length', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [name, last] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf'])
      lines.push(`${name}: &${name} [${Array(9).fill(`*${last}`).join(', ')}]`);
    const fields = 'name: notes\ndescription: x';
    const read = () => {
      expect(faultOf(withFields(`${fields}\n${lines.join('\n')}`))).toContain('is not YAML');
      expect(faultOf(withFields(`${fields}\nx: ${'['.repeat(7_000)}`))).toContain('is not YAML');
      expect(faultOf(withFields(`${fields}\nx: ${'y'.repeat(20_000)}`))).toContain('front matter');
      expect(faultOf(withFields(`${fields}\n__proto__: {a: 1}`))).toContain('It was taken');
    };
    expect(processorMs(read)).toBeLessThan(20_000);
  });

  it('takes no more than an agent can be sent', () => {
    expect(faultOf(honest + 'x'.repeat(64_000))).toContain('larger than 64 KB');
    const many = Array.from({ length: 501 }, (_, index) => actionFile(`notes/${index}.md`, 'x'));
    expect(faultOf(honest, ...many)).toContain('more than 500 files or 12 MiB');
    expect(found(honest, ...many.slice(1)).actions).toHaveLength(1);
    const large = { path: 'notes/x', executable: false, content: Buffer.alloc(13 * 2 ** 20) };
    expect(faultOf(honest, large)).toContain('more than 500 files or 12 MiB');
  });

  it('gets no name of an operation, of another tool, or of a second skill', () => {
    const tools = new Set(Object.values<Operation>(operations).map(({ name }) => toolName(name)));
    for (const name of ['files-read', 'finish', 'terminal-run', 'a'.repeat(64)]) {
      const { actions } = found(honest.replace('notes', name));
      const called = actions[0]?.manifest.name_for_model ?? '';
      const operation = actionOperation({
        name: called,
        kind: 'skill',
        title: '',
        description: '',
        permissions: {
          network: [],
          secrets: [],
          workspace: 'none',
          memory_mb: 32,
          timeout_seconds: 1,
          warm_seconds: 0,
        },
      });
      expect(operation.name).toBe(`action.${name}`);
      expect(tools.has(toolName(operation.name))).toBe(false);
      expect(toolName(operation.name)).toMatch(/^[\w-]{1,64}$/);
    }
    const twins = findActions([
      actionFile('one/SKILL.md', honest),
      actionFile('two/SKILL.md', honest),
    ]);
    expect(twins.actions).toEqual([]);
    expect(twins.faults.map(({ fault }) => fault)).toEqual([
      expect.stringContaining('is also named notes'),
      expect.stringContaining('is also named notes'),
    ]);
  });
});

describe('attacks: MCP servers to install', () => {
  const manifest = (more: object) =>
    JSON.stringify({
      kind: 'mcp',
      name_for_human: 'Tools',
      name_for_model: 'tools',
      description_for_human: 'Tools.',
      description_for_model: 'Tools.',
      command: ['node', 'server.js'],
      ...more,
    });
  const server = (more: object, of: object = {}) =>
    JSON.stringify({
      name: 'io.example/tools',
      description: 'Tools.',
      packages: [{ registryType: 'npm', identifier: 'tools', transport: { type: 'stdio' }, ...of }],
      ...more,
    });
  const faultIn = (path: string, content: string): string | null =>
    findActions([actionFile(path, content)]).faults[0]?.fault ?? null;

  it('asks for nothing that a server of all sessions cannot have', () => {
    expect(faultIn('manifest.json', manifest({}))).toBeNull();
    for (const [more, sentence] of [
      [{ name_for_model: 'a_b' }, 'the name of an MCP server has lowercase letters'],
      [{ permissions: { workspace: 'read' } }, 'permissions.workspace'],
      [{ services: { db: { image: 'x', port: 1 } } }, 'services'],
      [{ environment: { LD_PRELOAD: '/x.so' } }, 'environment'],
      [{ command: [] }, 'command'],
      [{ kind: 'skill' }, 'kind'],
      [{ kind: 'action' }, 'only for the kind mcp'],
    ] as const)
      expect(faultIn('manifest.json', manifest(more))).toContain(sentence);
  });

  it('takes of a server.json a package, and no options or commands in its place', () => {
    expect(faultIn('server.json', server({}))).toBeNull();
    for (const [content, sentence] of [
      [server({}, { identifier: '--global' }), 'packages.npm.0: the name of a package'],
      [server({}, { identifier: 'x; id' }), 'packages.npm.0: the name of a package'],
      [server({}, { version: '$(id)' }), 'packages.npm.0: the name of a package'],
      [server({}, { registryType: 'oci' }), 'none is an npm or PyPI package'],
      [server({}, { transport: { type: 'sse' } }), 'none is an npm or PyPI package'],
      [server({}, { environmentVariables: [{ name: 'PATH' }] }), 'permissions.secrets.0'],
      [server({ name: '///' }), 'name_for_human'],
      [server({ packages: 'npm' }), 'packages'],
      ['{', 'not JSON'],
    ] as const)
      expect(faultIn('server.json', content)).toContain(sentence);
  });
});
