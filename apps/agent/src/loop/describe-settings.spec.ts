import { packageRegistries, sessionSettings } from '@belay/protocol';
import { describeSettings } from './describe-settings.js';

it('names open hosts in the words of refusals, and what tools mean by 127.0.0.1', () => {
  const hostsOf = (egress: object) =>
    describeSettings(
      sessionSettings.parse({ task: 'x', model: 'scripted:x', sandbox: 'root', egress }),
    ).split('\n')[1];
  const proxy = expect.stringMatching(
    /Tools may name the sandbox’s own proxy as 127\.0\.0\.1\.$/,
  ) as string;
  expect(hostsOf({})).toEqual(proxy);
  expect(hostsOf({ hosts: ['a.example'] })).toContain(
    `Open hosts: ${packageRegistries}, a.example.`,
  );
  expect(hostsOf({ profile: 'list' })).toContain('Open hosts: none.');
  const many = Array.from({ length: 30 }, (_, index) => `h${index}.example`);
  expect(hostsOf({ profile: 'list', hosts: many })).toContain('h19.example, 10 more.');
});

it('tells the limits that count, and nothing of those that do not', () => {
  const budgetsOf = (budgets: object) =>
    describeSettings(sessionSettings.parse({ task: 'x', model: 'scripted:x', budgets }))
      .split('\n')
      .find((line) => line.startsWith('Budgets: '));
  expect(budgetsOf({ steps: 40, dollars: 2 })).toMatch(
    /^Budgets: 40 steps \(each reply of yours is one\), \$2\. /,
  );
  expect(budgetsOf({ steps: null, seconds: 600, tokens: 500_000 })).toMatch(
    /^Budgets: 500,000 tokens of prompts and replies together, 10 minutes\. /,
  );
  expect(budgetsOf({ steps: null })).toBe('Budgets: none.');
});
