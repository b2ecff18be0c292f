import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { client } from '@/lib/server';
import { sayError } from '@/lib/toasts';
import { useReadOnly } from '@/lib/role';
import { Checks } from '@/features/settings/checks';
import { examplesQuery } from './queries';

const fallback = {
  name: 'fix-failing-test',
  title: 'Fix the failing test',
  task: 'Find out why the test fails and fix it.',
  model: 'scripted:example:fix-failing-test',
};

/** What a person sees first: a session that needs no key, one press away, and what is missing for their own. */
export function Welcome() {
  const readOnly = useReadOnly();
  return (
    <div className="min-h-0 overflow-y-auto">
      <section className="mx-auto max-w-xl p-6 pt-[12vh] max-sm:p-4 max-sm:pt-8">
        <h2 className="mb-2 text-xl font-semibold">No sessions yet</h2>
        <p className="text-muted">
          A session is an agent in a container of its own, at work on a task. You see everything it
          does, and it asks before it runs a command or reaches out.
        </p>
        {!readOnly && (
          <>
            <Beginnings />
            <h3 className="mt-8 mb-1 font-semibold">What agents need</h3>
            <Checks />
          </>
        )}
      </section>
    </div>
  );
}

function Beginnings() {
  const navigate = useNavigate();
  const [starting, setStarting] = useState(false);
  const { data: examples = [] } = useQuery(examplesQuery);
  const example = examples.find(({ name }) => name === fallback.name) ?? fallback;
  const start = async () => {
    setStarting(true);
    try {
      const session = await client.sessions.create({
        task: example.task,
        title: example.title,
        workspace: `example:${example.name}`,
        model: example.model,
        approvals: 'auto',
        tags: ['demo'],
      });
      await navigate({ to: '/sessions/$id', params: { id: session.id } });
    } catch (error) {
      sayError(error);
      setStarting(false);
    }
  };
  return (
    <>
      <div className="mt-4 flex flex-wrap items-center gap-2">
        <Button look="solid" disabled={starting} onClick={() => void start()}>
          <Play size={14} aria-hidden /> {starting ? 'Starting…' : 'Watch the demo'}
        </Button>
        <Link
          to="/new"
          className="inline-flex h-8 items-center rounded-md border border-line-strong bg-panel px-3 text-sm font-medium hover:bg-hover"
        >
          Start your own
        </Link>
      </div>
      <p className="mt-2 text-sm text-faint">
        The demo fixes a failing test with a scripted model: it needs no key and costs nothing.
      </p>
    </>
  );
}
