import { checkedDefinition } from '@belay/protocol';
import { parse } from 'yaml';
import { definitionYaml } from './definition-yaml.js';

function yamlOf(value: unknown): string {
  const { definition, faults } = checkedDefinition(value);
  if (!definition) throw new Error(JSON.stringify(faults));
  const text = definitionYaml(definition);
  expect(checkedDefinition(parse(text)).definition).toEqual(definition);
  return text;
}

describe('the YAML of a definition', () => {
  it('leaves out what is usual', () => {
    const small = {
      name: 'a',
      on: { hand: true },
      run: { task: 'First.\nThen: the rest.\n', budgets: { dollars: 1 } },
    };
    const text =
      'name: a\non:\n  hand: true\nrun:\n  task: |-\n    First.\n    Then: the rest.\n  budgets:\n    dollars: 1\n';
    expect(yamlOf(small)).toBe(text);
    expect(yamlOf({ ...small, dry: false, lane: { busy: 'queue' }, out: {} })).toBe(text);
  });

  it('has what is not', () => {
    const full = {
      name: 'b',
      on: {
        host: 'github',
        repository: 'a/b',
        event: ['pull.opened', 'push'],
        by: 'poll',
        where: `user == 'a'`,
      },
      trust: { users: ['1'], forks: 'refuse' },
      run: {
        task: 'x',
        budgets: { tokens: 5 },
        egress: { profile: 'list', hosts: ['a.example'] },
        image: 'node:24',
        gitIdentity: { name: 'A', email: 'a@b' },
      },
      lane: { key: '{branch}', stopWhenNoChange: false },
      out: { push: { branch: 'same', only: 'x/' }, pullRequest: {} },
      proof: { commands: ['npm test'] },
      dry: true,
    };
    expect(parse(yamlOf(full))).toEqual({
      ...full,
      on: { ...full.on, host: 'github.com' },
      trust: { users: ['1'] },
    });
  });
});
