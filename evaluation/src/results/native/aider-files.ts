import { join } from 'node:path';
import { exerciseLanguage } from '../../suites/polyglot-languages.js';
import { folderName } from '../../folder-name.js';
import { writeInside } from '../journal.js';
import { float, pythonJson } from './python-json.js';
import { tokensOf, type Writer } from './writer.js';

/**
 * The results folder of Aider's benchmark, where its own `--stats` looks:
 * DATE--NAME/LANGUAGE/exercises/practice/EXERCISE/.aider.results.json. Each further attempt gets a
 * separate folder.
 */
export const aiderFiles: Writer = (out, { run, trials }) => {
  const model = run.model ?? run.agent;
  const date = run.created.slice(0, 19).replace('T', '-').replaceAll(':', '-');
  for (const trial of trials) {
    const { task, attempt, tries, verdict, dollars, seconds } = trial;
    const parts = task.split('/');
    const language = parts.find((part) => exerciseLanguage(part)) ?? 'other';
    const exercise = parts.at(-1) ?? task;
    const name = `${date}--${folderName(model)}${attempt > 1 ? `.${attempt}` : ''}`;
    const folder = join(out, 'native', name, language, 'exercises', 'practice', exercise);
    const tokens = tokensOf(out, trial);
    const made = tries ?? [verdict];
    const results = {
      testdir: folder,
      testcase: exercise,
      model,
      edit_format: 'belay',
      tests_outcomes: made.map(({ outcome }) => outcome === 'pass'),
      cost: float(dollars),
      duration: float(seconds.agent),
      test_timeouts: made.filter(({ cause }) => cause === 'verifier_timeout').length,
      commit_hash: '',
      num_error_outputs: 0,
      num_user_asks: 0,
      num_exhausted_context_windows: 0,
      num_malformed_responses: 0,
      syntax_errors: 0,
      indentation_errors: 0,
      lazy_comments: 0,
      reasoning_effort: null,
      prompt_tokens: tokens.prompt ?? 0,
      completion_tokens: tokens.completion ?? 0,
      thinking_tokens: null,
      chat_hashes: [],
    };
    writeInside(out, join(folder, '.aider.results.json'), pythonJson(results, { indent: 4 }));
  }
};
