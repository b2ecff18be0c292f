import { Link } from '@tanstack/react-router';
import type { AutomationRun } from '@belay/protocol';
import type { automationSections } from './automation-sections';

type Remedy = readonly [section: (typeof automationSections)[number], words: string];

const inDefinition = (words: string): Remedy => ['definition', words];

/** By the code of a run that was not begun or not published: where a user changes that. */
const remedies: Readonly<Record<string, Remedy>> = {
  permission: inDefinition('Change who may begin it'),
  'permission-unknown': inDefinition('Change who may begin it'),
  bot: inDefinition('Change which bots may begin it'),
  own: inDefinition('Let its own pushes begin it'),
  fork: inDefinition('Change what holds for forks'),
  filter: inDefinition('Change its condition'),
  branch: inDefinition('Change which branches it may push to'),
  'per-hour': inDefinition('Change how often it may run'),
  'per-day': inDefinition('Change how often it may run'),
  'subject-per-day': inDefinition('Change how often it may run'),
  month: inDefinition('Change its monthly limit'),
  budget: inDefinition('Change the budget of a run'),
  late: inDefinition('Change how late it may begin'),
  owner: inDefinition('Save it again as its new owner'),
  stuck: ['lanes', 'Let its lane go on'],
  attempts: ['lanes', 'Let its lane go on'],
};

/** A link to where a user can change what stopped a run; nothing if there is no such place. */
export function RunRemedy({ run, className }: { run: AutomationRun; className?: string }) {
  const remedy = run.code === null ? undefined : remedies[run.code];
  if (!remedy) return null;
  const [section, words] = remedy;
  return (
    <Link
      to="/automations/$name"
      params={{ name: run.automation }}
      search={{ section }}
      className={className}
    >
      {words}
    </Link>
  );
}
