import { AppError, endedRunStates, urlBodyExample, type AutomationInfo } from '@belay/protocol';
import { confirmed } from '../confirmed.js';
import { clientFor, type PrintOptions } from '../connection.js';
import { editText } from '../edit-text.js';
import { jobDefinition, type JobOptions } from '../job-definition.js';
import { outputTo, printResult } from '../output.js';
import { printProblems, readDefinition, type GivenDefinition } from './check-definition.js';
import { tellRun } from './explain-run.js';

/** `belay automations add`. Returns the exit code: 1 if something is wrong with the definition. */
export async function addAutomation(
  file: string | undefined,
  { job, repository, name, ...options }: PrintOptions & JobOptions,
): Promise<number> {
  if ((file === undefined) === (job === undefined))
    throw new AppError(
      'invalid_input',
      'Name either a file with a definition, or a job with --job.',
    );
  if (file !== undefined && (repository ?? name) !== undefined)
    throw new AppError(
      'invalid_input',
      '--repository and --name are for --job: the file has them.',
    );
  const client = clientFor(options);
  const given =
    job === undefined
      ? await readDefinition(file ?? '-')
      : jobDefinition(await client.automations.jobs(), { job, repository, name });
  if (printProblems(given, await client.automations.check(given))) return 1;
  const added = await client.automations.add(given);
  printResult(options, added, `Added ${added.name}.`, ...hintsFor(added));
  return 0;
}

/** What its user needs to do before it begins anything. */
function hintsFor({ name, definition: { on } }: AutomationInfo): string[] {
  if ('url' in on) return [`Make the secret of its URL: belay automations secret ${name}`];
  if ('host' in on)
    return [
      `It needs the events of the repository: belay automations connect ${on.host}/${on.repository}`,
      `To see what it would do: belay automations run ${name} --number N --dry`,
    ];
  return [`To see what it would do: belay automations run ${name} --dry`];
}

/** `belay automations edit`: in the user’s editor, or by a file. Returns the exit code. */
export async function editAutomation(
  name: string,
  file: string | undefined,
  options: PrintOptions,
): Promise<number> {
  const client = clientFor(options);
  const says = outputTo(process.stderr);
  if (file !== undefined) return save(await readDefinition(file));
  const result = await editText({
    text: new TextDecoder().decode(await client.automations.text(name)),
    file: `${name}.yaml`,
    save: async (text) => (await triedToSave({ text, file: `${name}.yaml` })) === 0,
    goesOn: async (path) => {
      says.line(`Not saved. What you typed is in ${path}`);
      const again = await confirmed('Edit it again?', 'It can be edited only at a terminal.');
      if (!again) says.line(`To save it later: belay automations edit ${name} ${path}`);
      return again;
    },
  });
  if (result === 'unchanged') says.line('Nothing was changed.');
  return result === 'kept' ? 1 : 0;

  /** Whatever the server refuses is for the user to correct, with the text at hand. */
  async function triedToSave(given: GivenDefinition): Promise<number> {
    try {
      return await save(given);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      says.line(`belay: ${error.message}`);
      return 1;
    }
  }

  async function save(given: GivenDefinition): Promise<number> {
    if (printProblems(given, await client.automations.check(given))) return 1;
    const changed = await client.automations.edit(name, given);
    printResult(options, changed, `Saved version ${changed.version} of ${name}.`);
    return 0;
  }
}

/** `belay automations remove`. Returns the exit code: 1 if the user does not confirm. */
export async function removeAutomation(
  name: string,
  { yes, ...options }: PrintOptions & { yes?: boolean },
): Promise<number> {
  const client = clientFor(options);
  await client.automations.get(name);
  const question = `${name} begins no more runs, and its versions are removed. Remove it?`;
  if (!yes && !(await confirmed(question, `Confirm with --yes: ${name} is removed.`))) {
    outputTo(process.stderr).line('Nothing was removed.');
    return 1;
  }
  await client.automations.remove(name);
  printResult(options, { removed: name }, `Removed ${name}. Its runs and their sessions stay.`);
  return 0;
}

export async function pauseAutomation(name: string, options: PrintOptions): Promise<void> {
  const paused = await clientFor(options).automations.pause(name);
  printResult(options, paused, `${name} is paused. What runs goes on.`);
}

export async function resumeAutomation(name: string, options: PrintOptions): Promise<void> {
  const resumed = await clientFor(options).automations.resume(name);
  printResult(options, resumed, `${name} is on.`);
}

/** `belay automations run`. Returns the exit code: 1 if no run was begun that was asked for. */
export async function runAutomation(
  name: string,
  {
    dry = false,
    number,
    branch,
    delivery,
    ...options
  }: PrintOptions & { dry?: boolean; number?: number; branch?: string; delivery?: string },
): Promise<number> {
  const wish = {
    dry,
    ...(number !== undefined && { number }),
    ...(branch !== undefined && { branch }),
    ...(delivery !== undefined && { delivery }),
  };
  const explanation = await clientFor(options).automations.run(name, wish);
  tellRun(explanation, options);
  if (!options.json && !endedRunStates.includes(explanation.run.state))
    outputTo(process.stdout).line(
      `To see what becomes of it: belay automations explain ${explanation.run.id}`,
    );
  return ['refused', 'failed'].includes(explanation.run.state) ? 1 : 0;
}

/** `belay automations cancel`. */
export async function cancelRun(run: string, options: PrintOptions): Promise<void> {
  const explanation = await clientFor(options).automations.cancel(run);
  printResult(options, explanation, `Cancelled ${run}.`);
}

/** `belay automations reset`. */
export async function resetLane(name: string, key: string, options: PrintOptions): Promise<void> {
  await clientFor(options).automations.resetLane(name, { key });
  printResult(options, { reset: key }, `${key} of ${name} goes on, with new attempts.`);
}

/** `belay automations secret`. */
export async function makeUrlSecret(name: string, options: PrintOptions): Promise<void> {
  const client = clientFor(options);
  const made = await client.automations.secret(name);
  const { on } = (await client.automations.get(name)).definition;
  const example = JSON.stringify(urlBodyExample(on));
  printResult(
    options,
    made,
    'The secret, which is shown only now:',
    `  ${made.secret}`,
    'To begin a run:',
    `  curl ${made.url} -H "Authorization: Bearer $SECRET" --json '${example}'`,
  );
}
