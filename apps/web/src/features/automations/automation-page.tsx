import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { AppError, dateTimeText, dollarsText, type AutomationInfo } from '@belay/protocol';
import { NoPage } from '@/components/no-page';
import { Page } from '@/components/page';
import { BackLink } from '@/components/ui/back-link';
import { QueryState } from '@/components/ui/query-state';
import { AutomationActions } from './automation-actions';
import { automationSections } from './automation-sections';
import { AutomationState, whyColours } from './automation-state';
import { DefinitionSection } from './definition-section';
import { DeliveriesSection } from './deliveries-section';
import { LanesSection } from './lanes-section';
import { automationQuery, nextTimesQuery } from './queries';
import { RunsSection } from './runs-section';
import { triggerWords } from './trigger-words';

const route = getRouteApi('/automations/$name');

const sections = {
  runs: { title: 'Runs', Content: RunsSection },
  definition: { title: 'Definition', Content: DefinitionSection },
  lanes: { title: 'Lanes', Content: LanesSection },
  deliveries: { title: 'Deliveries', Content: DeliveriesSection },
} as const;

/** One automation: what it does, what it did, and its definition. */
export function AutomationPage() {
  const { name } = route.useParams();
  const automation = useQuery(automationQuery(name));
  if (automation.error instanceof AppError && automation.error.code === 'not_found')
    return <NoPage title={`No automation named ${name}`} />;
  return (
    <Page title={`${name} · Belay`} className="overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-4 p-6 max-sm:p-4">
        <BackLink to="/automations">All automations</BackLink>
        <QueryState query={automation} what="the automation" />
        {automation.data && <Automation automation={automation.data} />}
      </div>
    </Page>
  );
}

function Automation({ automation }: { automation: AutomationInfo }) {
  const { name, state, why, definition, file, nextAt, dollarsThisMonth, owner } = automation;
  const { section = 'runs' } = route.useSearch();
  const { title, Content } = sections[section];
  return (
    <>
      <header className="space-y-1">
        <div className="flex items-start justify-between gap-4 max-sm:mb-3 max-sm:flex-col max-sm:gap-2">
          <h1 className="flex min-w-0 items-baseline gap-2 text-xl font-semibold">
            <span className="min-w-0 break-words">{name}</span>
            <AutomationState state={state} />
          </h1>
          <AutomationActions automation={automation} />
        </div>
        {definition.description && <p>{definition.description}</p>}
        <p className="text-sm text-muted">{triggerWords(definition.on)}</p>
        {why !== null && <p className={`text-sm break-words ${whyColours[state]}`}>{why}</p>}
        {nextAt !== null && state === 'on' && <NextTimes name={name} nextAt={nextAt} />}
        <p className="text-sm text-faint tabular-nums">
          {dollarsText(dollarsThisMonth)} of {dollarsText(definition.lane.dollarsPerMonth)} this
          month · runs with the rights of {owner}
          {file !== null && ` · from ${file}`}
        </p>
      </header>
      <nav aria-label="Sections" className="flex gap-1 border-b">
        {automationSections.map((each) => (
          <Link
            key={each}
            to="/automations/$name"
            params={{ name }}
            search={{ section: each === 'runs' ? undefined : each }}
            replace
            activeOptions={{ exact: true }}
            className="-mb-px border-b-2 border-transparent px-2 py-1.5 text-sm text-muted hover:text-ink aria-[current=page]:border-ink aria-[current=page]:font-medium aria-[current=page]:text-ink"
          >
            {sections[each].title}
          </Link>
        ))}
      </nav>
      <section aria-label={title}>
        <Content automation={automation} />
      </section>
    </>
  );
}

/** The next times of a schedule. */
function NextTimes({ name, nextAt }: { name: string; nextAt: string }) {
  const { data = [nextAt] } = useQuery(nextTimesQuery(name, nextAt));
  return (
    <p className="text-sm text-muted tabular-nums">Next: {data.map(dateTimeText).join(' · ')}</p>
  );
}
