import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { AppError, dateTimeText, type DefinitionReport } from '@belay/protocol';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo } from '../output.js';

/** As the server’s contract has it. */
const maxBytes = 65_536;
/** Next times below a correct schedule; `next` prints more. */
const shownTimes = 3;

/** A definition of an automation, and the name for messages about it. */
export interface GivenDefinition {
  text: string;
  file: string;
}

/** `belay automations check`: one line per problem, as compilers print them. Returns the exit code. */
export async function checkDefinition(file: string, options: PrintOptions): Promise<number> {
  const given = await readDefinition(file);
  const report = await clientFor(options).automations.check(given);
  if (options.json) outputTo(process.stdout).json(report);
  else if (!printProblems(given, report)) {
    const { schedule, next } = report;
    const output = outputTo(process.stdout);
    output.line(`${given.file} is a correct automation.`);
    if (next.length > 0) {
      output.line(
        `It runs ${schedule ?? 'by its schedule'}. The next times, as your clock has them:`,
      );
      for (const time of next.slice(0, shownTimes)) output.line(`  ${dateTimeText(time)}`);
    }
  }
  return report.problems.length > 0 ? 1 : 0;
}

/** `belay automations next`: of an automation or a file. Returns the exit code. */
export async function printNextTimes(
  name: string,
  { count, ...options }: PrintOptions & { count: number },
): Promise<number> {
  const client = clientFor(options);
  const output = outputTo(process.stdout);
  if (!existsSync(name)) {
    const times = await client.automations.next(name, { count });
    printTimes(times);
    return 0;
  }
  const given = await readDefinition(name);
  const report = await client.automations.check(given);
  if (printProblems(given, report)) return 1;
  if (report.next.length === 0)
    throw new AppError('invalid_input', `${name} has no schedule: it begins by other things.`);
  printTimes(report.next.slice(0, count));
  return 0;

  function printTimes(times: readonly string[]): void {
    if (options.json) output.json(times);
    else for (const time of times) output.line(`${dateTimeText(time)}  ${time}`);
  }
}

/** The file with a definition; `-` is standard input. Throws `invalid_input` for what cannot be one. */
export async function readDefinition(file: string): Promise<GivenDefinition> {
  if (file === '-') return notEmpty({ text: await text(process.stdin), file: 'standard input' });
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (!('isFile' in found))
    throw new AppError(
      'invalid_input',
      found.code === 'ENOENT'
        ? `There is no file ${file}. Name a file with a definition.`
        : `${file} cannot be read (${found.code}). Name a file with a definition.`,
    );
  if (!found.isFile()) throw new AppError('invalid_input', `${file} is not a file.`);
  if (found.size > maxBytes)
    throw new AppError('invalid_input', `${file} is larger than 64 KiB, and a definition is not.`);
  return notEmpty({ text: await readFile(file, 'utf8'), file: basename(file) });
}

function notEmpty(given: GivenDefinition): GivenDefinition {
  if (given.text.trim() !== '') return given;
  throw new AppError(
    'invalid_input',
    `${given.file} is empty. Begin with a job: belay automations jobs`,
  );
}

/** Prints what is wrong with a definition, and warnings; returns whether something is wrong. */
export function printProblems(
  { file }: GivenDefinition,
  { problems, warnings }: Pick<DefinitionReport, 'problems' | 'warnings'>,
): boolean {
  const output = outputTo(process.stderr);
  for (const { path, message, line, column } of problems) {
    const place = [file, line, column].filter((part) => part !== null).join(':');
    output.line(`${place} ${path === '' ? '' : `${path}: `}${message}`);
  }
  for (const warning of warnings) output.line(`${file}: warning: ${warning}`);
  return problems.length > 0;
}
