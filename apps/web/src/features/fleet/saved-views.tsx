import { Link } from '@tanstack/react-router';
import { Bookmark, X } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { IconButton } from '@/components/ui/icon-button';
import { askText } from '@/lib/ask';
import type { FleetFilter } from './fleet-order';
import { useViews } from './use-views';

/** The user’s saved views as shareable links, and a button that saves the current one. */
export function SavedViews({ filter }: { filter: FleetFilter }) {
  const { views, save, forget } = useViews();
  const now = addressOf(filter);
  const isSaved = views.some((view) => addressOf(view.filter) === now);
  if (views.length === 0 && now === '') return null;
  const saveThis = async () => {
    const name = await askText({
      title: 'Save this view',
      label: 'Name',
      value: filter.q ?? filter.tag ?? '',
      verb: 'Save',
    });
    if (name) save({ name, filter });
  };
  return (
    <nav
      aria-label="Saved views"
      className="flex flex-wrap items-center gap-2 border-b px-4 py-1.5"
    >
      {views.map(({ name, filter: search }) => (
        <span
          key={name}
          className="inline-flex h-6 items-center rounded-md border bg-panel has-[a[aria-current]]:border-line-strong has-[a[aria-current]]:bg-hover"
        >
          <Link
            to="/"
            search={search}
            aria-current={addressOf(search) === now ? 'page' : undefined}
            className="rounded-l-md px-2 text-sm hover:underline"
          >
            {name}
          </Link>
          <IconButton
            label={`Delete the view ${name}`}
            icon={X}
            className="size-6"
            onClick={() => forget(name)}
          />
        </span>
      ))}
      {now !== '' && !isSaved && (
        <Button small look="ghost" onClick={() => void saveThis()}>
          <Bookmark size={13} aria-hidden /> Save this view…
        </Button>
      )}
      {now !== '' && (
        <Link to="/" search={{}} className="text-xs text-muted underline hover:text-ink">
          Clear all filters
        </Link>
      )}
    </nav>
  );
}

/** A key that is equal for equal filters, whatever the order of their fields; empty for none. */
const addressOf = ({ q, tag, show, sort }: FleetFilter): string =>
  JSON.stringify({ q, tag, show, sort }).replace('{}', '');
