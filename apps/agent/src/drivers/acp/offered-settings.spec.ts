import { offeredOptions } from './offered-settings.js';

const levels = ['off', 'high'];
const modes = {
  currentModeId: 'off',
  availableModes: levels.map((id) => ({ id, name: id })),
};
const select = (id: string, category: string, values: string[]) => ({
  type: 'select' as const,
  id,
  name: id,
  category,
  currentValue: values[0] ?? '',
  options: values.map((value) => ({ value, name: value })),
});

it.each([
  ['alone', [], ['modes']],
  ['beside other options', [select('style', 'other', ['short'])], ['modes', 'style']],
  ['beside an option for modes', [select('mode', 'mode', ['plan'])], ['mode']],
  ['beside an option with the same choices', [select('level', 'thought_level', levels)], ['level']],
])('offers modes once: %s', (_, configOptions, offered) => {
  expect(offeredOptions({ configOptions, modes }).map(({ id }) => id)).toEqual(offered);
});
