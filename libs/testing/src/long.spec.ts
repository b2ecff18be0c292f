import { itLong, sampled } from './long.js';

// long.long.spec.ts runs the same as the long run does.
const isLong = (expect.getState().testPath ?? '').endsWith('long.long.spec.ts');
const ran: string[] = [];

itLong('runs what takes long', async () => void ran.push('long'));

it.each(sampled(1, ['sampled', 'left out']))('runs the row that is %s', (row) => {
  ran.push(row);
});

it('in the ordinary run, only what is not long', () => {
  expect(ran).toEqual(isLong ? ['long', 'sampled', 'left out'] : ['sampled']);
});
