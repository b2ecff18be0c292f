import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { client } from '@/lib/server';
import { sayError } from '@/lib/toasts';
import { examplesQuery } from './queries';

const fallback = {
  name: 'fix-failing-test',
  title: 'Fix the failing test',
  task: 'Find out why the test fails and fix it.',
  model: 'scripted:example:fix-failing-test',
};

/** What a person sees first: a session that needs no key, one press away. */
export function DemoOffer() {
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
    <section className="m-auto max-w-md p-6">
      <h2 className="mb-2 text-xl font-semibold">No sessions yet</h2>
      <p className="mb-4 text-muted">
        A session is an agent in a container of its own, at work on a task. You see everything it
        does, and it asks before it does what cannot be undone.
      </p>
      <div className="flex flex-wrap items-center gap-2">
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
      <p className="mt-4 text-sm text-faint">
        The demo fixes a failing test with a scripted model: it needs no key and costs nothing. For
        your own tasks,{' '}
        <Link to="/doctor" className="underline">
          check the setup
        </Link>{' '}
        first.
      </p>
    </section>
  );
}
