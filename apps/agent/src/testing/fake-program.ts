import type { AgentProgram } from '@belay/protocol';

/** A program that a test plays, whose start is the same before and after its user trusts the project. */
export function fakeProgram(
  launch: AgentProgram['launches']['trusted'],
  more: Pick<AgentProgram, 'home'> & Partial<AgentProgram>,
): AgentProgram {
  return {
    name: 'fake',
    title: 'Fake',
    protocol: 'acp',
    formats: ['messages'],
    token: 'x'.repeat(32),
    project: [],
    ignoresDistrust: [],
    launches: { untrusted: launch, trusted: launch },
    resume: null,
    authenticate: null,
    ...more,
  };
}
