import { inputOf } from './call-action.js';

it('reads fields by their types, and all else as positionals', () => {
  const types = new Map([
    ['city', 'string'],
    ['days', 'integer'],
    ['units', undefined],
  ]);
  const words = ['city=8000', 'days=3', 'units=1', 'plain', 'a b=c', '--flag', 'days'];
  expect(inputOf(words, types)).toEqual({
    city: '8000',
    days: 3,
    units: '1',
    args: ['plain', 'a b=c', '--flag', 'days'],
  });
  // What is not JSON stays a text, for the action to refuse.
  expect(inputOf(['days=many'], types)).toEqual({ days: 'many' });
  expect(inputOf([], types)).toEqual({});
});
