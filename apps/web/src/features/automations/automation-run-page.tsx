import type { ReactNode } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import {
  AppError,
  dateTimeText,
  dollarsText,
  type AutomationRun,
  type RunExplanation,
} from '@belay/protocol';
import { Check, X } from 'lucide-react';
import { NoPage } from '@/components/no-page';
import { Page } from '@/components/page';
import { BackLink } from '@/components/ui/back-link';
import { Button } from '@/components/ui/button';
import { Detail } from '@/components/ui/detail';
import { QueryState } from '@/components/ui/query-state';
import { VisibleText } from '@/components/ui/visible-text';
import { attemptConfirmed } from '@/lib/ask';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { ConsideredTexts } from './considered-texts';
import { explanationQuery, isRunOver } from './queries';
import { RunStateLabel } from './run-mark';
import { RunRemedy } from './run-remedy';
import { SentItems } from './sent-items';
import { eventTitle, runTitle } from './trigger-words';

const route = getRouteApi('/automations/$name/runs/$run');

/** Why a run is as it is: what happened, what was found, decided and sent. */
export function AutomationRunPage() {
  const { name, run } = route.useParams();
  const explanation = useQuery(explanationQuery(run));
  if (explanation.error instanceof AppError && explanation.error.code === 'not_found')
    return <NoPage title="No such run" />;
  return (
    <Page title={`Run of ${name} · Belay`} className="overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-6 p-6 max-sm:p-4">
        <BackLink to="/automations/$name" params={{ name }}>
          {name}
        </BackLink>
        <QueryState query={explanation} what="the run" />
        {explanation.data && <Explanation explanation={explanation.data} />}
      </div>
    </Page>
  );
}

function Explanation({ explanation }: { explanation: RunExplanation }) {
  const { run, findings, decisions, outgoing } = explanation;
  return (
    <>
      <Head explanation={explanation} />
      <Section title="Decisions">
        <ol className="space-y-1 text-sm">
          {decisions.map(({ check, holds, why }) => (
            <li key={check} className="flex gap-2">
              {holds ? (
                <Check size={15} aria-label="Holds" className="mt-0.5 shrink-0 text-pass" />
              ) : (
                <X size={15} aria-label="Does not hold" className="mt-0.5 shrink-0 text-fail" />
              )}
              <span className="min-w-0 break-words">
                <span className="text-muted">{check}: </span>
                <VisibleText text={why} />
              </span>
            </li>
          ))}
          {decisions.length === 0 && <li className="text-muted">Nothing was decided yet.</li>}
        </ol>
      </Section>
      {findings.texts.length > 0 && (
        <Section title="Texts">
          <ConsideredTexts texts={findings.texts} />
        </Section>
      )}
      {outgoing.length > 0 && (
        <Section title="Sent to the git host">
          <SentItems items={outgoing} />
        </Section>
      )}
      {!isRunOver(run) && <CancelButton run={run} />}
    </>
  );
}

function Head({ explanation: { run, occurrence, findings } }: { explanation: RunExplanation }) {
  const { session, check, pullRequest } = run;
  return (
    <header className="space-y-3">
      <h1 className="flex flex-wrap items-baseline gap-2 text-xl font-semibold">
        <VisibleText text={runTitle(run)} />
        <span className="text-sm font-normal">
          <RunStateLabel run={run} />
        </span>
      </h1>
      {run.why !== null && (
        <p className="break-words">
          <VisibleText text={run.why} /> <RunRemedy run={run} className="underline" />
        </p>
      )}
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        <Detail name="Event">
          {eventTitle(run.event)}, {dateTimeText(occurrence.at)}
        </Detail>
        {findings.actor && (
          <Detail name="By">
            <VisibleText text={findings.actor.name} />
            {findings.permission !== null && ` (${findings.permission})`}
          </Detail>
        )}
        {findings.title !== null && (
          <Detail name="About">
            <VisibleText text={findings.title} />
          </Detail>
        )}
        {findings.branch !== null && (
          <Detail name="Branch">
            <VisibleText text={findings.branch} />
            {findings.sha !== null && (
              <code className="ml-2 text-xs text-muted">{findings.sha.slice(0, 12)}</code>
            )}
          </Detail>
        )}
        <Detail name="Lane">
          <VisibleText text={run.lane} />
        </Detail>
        {session !== null && (
          <Detail name="Session">
            <Link to="/sessions/$id" params={{ id: session }} className="underline">
              {session}
            </Link>
          </Detail>
        )}
        {run.dollars > 0 && <Detail name="Cost">{dollarsText(run.dollars)}</Detail>}
        {check && (
          <Detail name="Check">
            <code className="text-xs">{check.command}</code> {check.state}
          </Detail>
        )}
        {pullRequest && (
          <Detail name="Pull request">
            <a href={pullRequest.url} target="_blank" rel="noreferrer" className="underline">
              #{pullRequest.number}
            </a>
          </Detail>
        )}
      </dl>
    </header>
  );
}

function CancelButton({ run: { id } }: { run: AutomationRun }) {
  const readOnly = useReadOnlySettings();
  const queries = useQueryClient();
  if (readOnly) return null;
  const cancel = () =>
    attemptConfirmed(
      {
        title: 'Cancel this run?',
        text: 'Its session is stopped, and nothing more is sent.',
        verb: 'Cancel the run',
        danger: true,
      },
      async () => {
        await client.automations.cancel(id);
        await queries.invalidateQueries(explanationQuery(id));
      },
    );
  return (
    <Button look="danger" onClick={cancel}>
      Cancel run
    </Button>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="space-y-2">
      <h2 className="font-medium">{title}</h2>
      {children}
    </section>
  );
}
