import { automationDefinition, runFindings, type AutomationDefinitionInput } from '@belay/protocol';
import type { PublishedResult, RunRecord } from '../../run-record.js';

/** A run of an issue, whose automation sends nothing unless told otherwise. */
export function runOf({
  definition,
  ...more
}: Partial<Omit<RunRecord, 'definition'>> & {
  definition?: Partial<AutomationDefinitionInput>;
} = {}): RunRecord {
  const parsed = automationDefinition.parse({
    name: 'fix-issue',
    on: { host: 'git.example.com', repository: 'acme/api', event: 'issue.labelled' },
    run: { task: 'Fix it.', budgets: { dollars: 1 } },
    ...definition,
  });
  const at = '2026-01-01T00:00:00.000Z';
  return {
    id: 'run-1',
    automation: {
      id: 'automation-1',
      name: parsed.name,
      version: 1,
      definition: parsed,
      owner: 'owner',
      state: 'on',
      why: null,
      file: null,
      nextAt: null,
      lastAt: null,
      created: at,
      updated: at,
    },
    definition: parsed,
    version: 1,
    occurrence: { event: 'issue.labelled', key: 'label:12:belay', at, actor: null, number: 12 },
    eventKey: 'label:12:belay',
    delivery: null,
    lane: '#12',
    subject: '#12',
    findings: runFindings.parse({}),
    decisions: [],
    state: 'working',
    code: null,
    why: null,
    session: null,
    reserved: 0,
    spent: 0,
    result: null,
    created: at,
    started: at,
    ended: null,
    ...more,
  };
}

/** What came of a run that pushed one file, to a pull request that it opened or updated if one is given. */
export const pushedResult = (
  commit: string,
  pullRequest: PublishedResult['pullRequest'] = null,
): PublishedResult => ({
  tree: null,
  changedFiles: 1,
  checkExit: null,
  verdict: null,
  commit,
  pullRequest,
});
