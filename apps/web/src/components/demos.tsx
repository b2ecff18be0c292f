import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { MessageCircleQuestion, Play } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { examplesQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { toastError } from '@/lib/toasts';

/** Neither needs an API key. `decide` waits for the user twice: for an answer and an approval. */
const demos = {
  watch: {
    name: 'fix-failing-test',
    title: 'Fix the failing test',
    task: 'Find out why the test fails and fix it.',
    model: 'scripted:example:fix-failing-test',
    approvals: 'auto',
  },
  decide: {
    name: 'ask-first',
    title: 'Change a guide, asking first',
    task: 'Ask me for a better unit of distance, change the code, and check it with the tests.',
    model: 'scripted:example:ask-first',
    approvals: 'ask',
  },
} as const;

/** Starts a demo, or leads to a session of the user’s own. */
export function Demos() {
  const navigate = useNavigate();
  const [starting, setStarting] = useState(false);
  const { data: examples = [] } = useQuery(examplesQuery);
  const start = async ({ approvals, ...demo }: (typeof demos)[keyof typeof demos]) => {
    setStarting(true);
    const example = examples.find(({ name }) => name === demo.name) ?? demo;
    try {
      const session = await client.sessions.create({
        task: example.task,
        title: example.title,
        workspace: `example:${example.name}`,
        model: example.model,
        approvals,
        tags: ['demo'],
      });
      await navigate({ to: '/sessions/$id', params: { id: session.id } });
    } catch (error) {
      toastError(error);
      setStarting(false);
    }
  };
  return (
    <>
      <div className="mt-4 flex flex-wrap items-center gap-2">
        <Button look="solid" disabled={starting} onClick={() => void start(demos.watch)}>
          <Play size={14} aria-hidden /> {starting ? 'Starting…' : 'Watch the demo'}
        </Button>
        <Button disabled={starting} onClick={() => void start(demos.decide)}>
          <MessageCircleQuestion size={14} aria-hidden /> Try one that asks you
        </Button>
        <Link
          to="/new"
          className="inline-flex h-8 items-center rounded-md border border-line-strong bg-panel px-3 text-sm font-medium hover:bg-hover"
        >
          Start your own
        </Link>
      </div>
      <p className="mt-2 text-sm text-faint">
        The demo fixes a failing test; the other session asks you a question and for an approval.
        Both use a scripted model: they need no key and cost nothing.
      </p>
    </>
  );
}
