import { ageText, dollarsText, pluralText, type AutomationInfo } from '@belay/protocol';
import {
  moneyWords,
  nextTimeOf,
  nextWords,
  runMark,
  runMarks,
  runStateWords,
  triggerSummary,
} from '../automation-words.js';
import { clientFor, type PrintOptions } from '../connection.js';
import { outputTo, singleLine, type LineOutput } from '../output.js';
import { printList } from '../print-list.js';

/** `belay automations`: one line per automation. */
export async function listAutomations(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).automations.list(), options, {
    empty: 'No automations yet. See what there is to begin with: belay automations jobs',
    row: (automation) => [
      automation.name,
      automation.state,
      runMarks(automation.latest),
      moneyWords(automation),
      triggerSummary(automation.definition.on),
      automation.why ?? nextWords(automation),
    ],
  });
}

/** `belay automations show`. */
export async function showAutomation(
  name: string,
  { yaml, ...options }: PrintOptions & { yaml?: boolean },
): Promise<void> {
  const client = clientFor(options);
  const output = outputTo(process.stdout);
  if (yaml) {
    const text = await client.automations.text(name);
    return output.line(new TextDecoder().decode(text).trimEnd());
  }
  const automation = await client.automations.get(name);
  if (options.json) return output.json(automation);
  showDetails(automation, output);
}

function showDetails(automation: AutomationInfo, output: LineOutput): void {
  const { name, version, state, why, owner, file, definition, latest } = automation;
  output.line(output.style('bold', `${name} (version ${version})`));
  if (definition.description !== undefined)
    output.line(singleLine(definition.description, Infinity));
  const rows = [
    ['state', why === null ? state : `${state}: ${why}`],
    ['begins by', triggerSummary(definition.on)],
    ['trusts', trustWords(definition)],
    ['task', definition.run.task ?? `the template ${definition.run.template}`],
    ['may send', Object.keys(definition.out).join(', ') || 'nothing'],
    ['money', `${moneyWords(automation)} this month`],
    ['waiting', automation.waiting > 0 ? pluralText(automation.waiting, 'run') : ''],
    ['next', nextTimeOf(automation)],
    ['owner', owner],
    ['from', file ?? ''],
  ];
  for (const [title = '', text = ''] of rows)
    if (text !== '') output.line(`${title.padEnd(9)}  ${singleLine(text, output.width - 11)}`);
  if (definition.dry) output.line('It is dry: it decides, and does nothing.');
  for (const run of latest)
    output.line(
      singleLine(
        `${runMark(run)} ${run.id}  ${run.subject}  ${run.why ?? runStateWords(run)}`,
        output.width,
      ),
    );
}

function trustWords({ on, trust }: AutomationInfo['definition']): string {
  if (!('host' in on)) return 'its owner';
  const named = [...trust.users, ...trust.bots];
  const whom = named.length > 0 ? `${named.join(', ')} with` : 'whoever has';
  const texts =
    trust.content === 'quoted' ? 'quotes texts of others' : 'leaves texts of others out';
  return `${whom} the permission ${trust.actors}; ${texts}`;
}

/** `belay automations history`: runs, and decisions against one. */
export async function printHistory(
  name: string,
  { limit, ...options }: PrintOptions & { limit: number },
): Promise<void> {
  const runs = await clientFor(options).automations.history(name, { limit });
  printList(runs, options, {
    empty: `Nothing has happened yet. Try it: belay automations run ${name} --dry`,
    row: (run) => [
      run.id,
      `${ageText(run.created)} ago`,
      `${runMark(run)} ${runStateWords(run)}`,
      run.subject,
      run.dollars > 0 ? dollarsText(run.dollars) : '',
      run.pullRequest?.url ?? run.why ?? '',
    ],
    numbers: [4],
  });
}

/** `belay automations lanes`. */
export async function listLanes(name: string, options: PrintOptions): Promise<void> {
  printList(await clientFor(options).automations.lanes(name), options, {
    empty: 'No lane is running or stuck.',
    row: ({ key, running, attempts, lastStart, stuck }) => [
      key,
      running === null ? (stuck === null ? 'free' : 'stuck') : `running ${running}`,
      pluralText(attempts, 'attempt'),
      lastStart === null ? '' : `${ageText(lastStart)} ago`,
      stuck ?? '',
    ],
  });
}

/** `belay automations jobs`. */
export async function listAutomationJobs(options: PrintOptions): Promise<void> {
  const jobs = await clientFor(options).automations.jobs();
  printList(jobs, options, {
    empty:
      'This server has no jobs. Write a definition, and check it: belay automations check FILE',
    row: ({ name, description }) => [name, description],
  });
  if (!options.json && jobs.length > 0)
    outputTo(process.stdout).line(
      'Add one: belay automations add --job NAME --repository github.com/acme/api',
    );
}
