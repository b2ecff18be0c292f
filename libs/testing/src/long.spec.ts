import { itLong, sampled } from './long.js';

// long.long.spec.ts runs what is left out here.
const isLong = (expect.getState().testPath ?? '').endsWith('long.long.spec.ts');
const ran: string[] = [];

it('an ordinary test', () => void ran.push('ordinary'));

itLong('a long test', async () => void ran.push('long'));

it.each(sampled(1, ['one', 'two', 'three']).filter((row) => row !== 'two'))('row %s', (row) => {
  ran.push(row);
});

it.each(['first', 'second'])('the row %s of an ordinary table', (row) => {
  ran.push(row);
});

describe.each(sampled(1, ['SQLite', 'PostgreSQL']))('in %s', (database) => {
  it('an ordinary test', () => void ran.push(`${database} ordinary`));

  itLong('a long test', async () => void ran.push(`${database} long`));

  it.each(sampled(1, ['one', 'two']))('row %s', (row) => {
    ran.push(`${database} ${row}`);
  });
});

describe('without long tests', () => {
  beforeAll(() => void ran.push('prepared'));

  it('an ordinary test', () => void ran.push('short'));
});

describe('with a long test', () => {
  beforeAll(() => void ran.push('prepared'));

  it('an ordinary test', () => void ran.push('brief'));

  itLong('a long test', async () => void ran.push('last'));

  describe('within', () => {
    beforeAll(() => void ran.push('prepared within'));

    it('an ordinary test', () => void ran.push('inner brief'));

    itLong('a long test', async () => void ran.push('inner last'));
  });
});

afterAll(() => {
  const ordinary = [
    'ordinary',
    'one',
    'first',
    'second',
    'SQLite ordinary',
    'SQLite one',
    'prepared',
    'short',
    'prepared',
    'brief',
    'prepared within',
    'inner brief',
  ];
  const postgres = ['ordinary', 'long', 'one', 'two'].map((one) => `PostgreSQL ${one}`);
  const long = [
    'long',
    'three',
    'SQLite long',
    'SQLite two',
    ...postgres,
    'prepared',
    'last',
    'prepared within',
    'inner last',
  ];
  expect(ran).toEqual(isLong ? long : ordinary);
});
