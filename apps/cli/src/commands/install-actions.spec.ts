import { questionAbout } from './install-actions.js';

it.each([
  [['new'], true, 'Install 1 action?'],
  [['new', 'new'], true, 'Install 2 actions?'],
  [['new', 'other'], true, 'Install these updates?'],
  // Then the command refuses, because nobody can answer.
  [['other'], false, 'Install these updates?'],
  [['new'], false, null],
] as const)('an install of %j, at a terminal: %j, asks %j', (states, isTerminal, question) => {
  const changed = states.map((state) => ({ state }));
  expect(questionAbout(changed, isTerminal)).toBe(question);
});
