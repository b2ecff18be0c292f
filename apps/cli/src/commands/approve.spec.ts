import type { ApprovalRequest } from '@belay/protocol';
import { chosenFrom } from './approve.js';

const waiting = (...ids: string[]) =>
  ids.map((id) => ({ session: 's', request: { id } as ApprovalRequest }));
const idsOf = (chosen: ReturnType<typeof chosenFrom>) => chosen.map(({ request }) => request.id);

describe('the approvals that belay approve answers', () => {
  it.each([
    [waiting('c1'), {}, ['c1']],
    [waiting('c1', 'c2'), { all: true }, ['c1', 'c2']],
    [waiting('c1', 'd2'), { call: 'd' }, ['d2']],
    [waiting('c', 'c2'), { call: 'c' }, ['c']],
  ])('of %j with %j', (open, options, expected) => {
    expect(idsOf(chosenFrom(open, options))).toEqual(expected);
  });

  it.each([
    [waiting(), {}, 'No calls are waiting'],
    [waiting('c1', 'c2'), {}, '2 calls are waiting for approval: name one by its id'],
    [waiting('c1', 'c2'), { call: 'c' }, 'Type more of the id'],
    [waiting('c1'), { call: 'x' }, 'There is no pending approval x'],
  ])('are refused of %j with %j', (open, options, sentence) => {
    expect(() => chosenFrom(open, options)).toThrow(sentence);
  });
});
