import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { errorFrom, dateTimeText, type SessionSummary } from '@belay/protocol';
import { Download } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { CopyButton } from '@/components/ui/copy-button';
import { Failed } from '@/components/ui/empty';
import { Field, Input, Select } from '@/components/ui/field';
import { queryClient } from '@/lib/query-client';
import { client } from '@/lib/server';
import { attempt, toastError } from '@/lib/toasts';
import { shareSession } from './share-session';

/** The ways to show a session to others. */
export function ShareForm({ session }: { session: SessionSummary }) {
  return (
    <div className="space-y-6">
      <Section title="Save as a file">
        <p className="text-sm text-muted">
          An HTML file that replays the session as it is now, without this server.
        </p>
        <Button onClick={() => attempt(() => shareSession(session))}>
          <Download size={14} aria-hidden /> Save the file
        </Button>
      </Section>
      <Section title="Share a link">
        <p className="text-sm text-muted">
          Anyone with the link can watch this session live, with its files and terminals, but cannot
          change anything or see other sessions.
        </p>
        <NewLink session={session} />
        <Links session={session} />
      </Section>
    </div>
  );
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="space-y-2">
    <h3 className="font-medium">{title}</h3>
    {children}
  </section>
);

const linksKey = (session: string) => ['viewer-links', session];

const lifetimes = [
  { days: 1, label: '1 day' },
  { days: 7, label: '7 days' },
  { days: 30, label: '30 days' },
  { days: 365, label: '1 year' },
];
const dayMs = 24 * 3_600_000;

function NewLink({ session: { id } }: { session: SessionSummary }) {
  const [label, setLabel] = useState('');
  const [days, setDays] = useState(7);
  const [address, setAddress] = useState('');
  const [working, setWorking] = useState(false);
  const create = async () => {
    setWorking(true);
    try {
      const expires = new Date(Date.now() + days * dayMs).toISOString();
      const made = await client.viewerLinks.create(id, { label: label.trim(), expires });
      setAddress(location.origin + made.path);
      setLabel('');
      await queryClient.invalidateQueries({ queryKey: linksKey(id) });
    } catch (error) {
      toastError(error);
    } finally {
      setWorking(false);
    }
  };
  return (
    <>
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (!working) void create();
        }}
      >
        <Field label="Recipient" className="min-w-36 flex-1">
          <Input
            required
            maxLength={100}
            value={label}
            onChange={({ target }) => setLabel(target.value)}
          />
        </Field>
        <Field label="Valid for" className="w-28">
          <Select value={days} onChange={({ target }) => setDays(Number(target.value))}>
            {lifetimes.map((each) => (
              <option key={each.days} value={each.days}>
                {each.label}
              </option>
            ))}
          </Select>
        </Field>
        <Button type="submit" look="solid" disabled={working}>
          Create link
        </Button>
      </form>
      {address && (
        <div className="space-y-1" role="status">
          <div className="flex items-center gap-2 rounded-md border bg-sunken py-1 pr-1 pl-3">
            <code className="min-w-0 flex-1 font-mono text-xs break-all select-all">{address}</code>
            <CopyButton text={() => address} label="Copy the link" />
          </div>
          <p className="text-xs text-faint">
            The link is shown only once. It logs the browser that opens it in as a viewer, so try it
            in another browser.
          </p>
        </div>
      )}
    </>
  );
}

function Links({ session: { id } }: { session: SessionSummary }) {
  const { data, error } = useQuery({
    queryKey: linksKey(id),
    queryFn: () => client.viewerLinks.list(id),
  });
  const revoke = async (link: string) => {
    await client.viewerLinks.revoke(id, link).catch((failed: unknown) => {
      // Another user has revoked it already.
      if (errorFrom(failed).code !== 'not_found') throw failed;
    });
    await queryClient.invalidateQueries({ queryKey: linksKey(id) });
  };
  if (error) return <Failed error={error} />;
  if (!data?.length) return null;
  return (
    <ul aria-label="Links" className="divide-y rounded-md border">
      {data.map(({ id: link, label, expires, lastUsed }) => (
        <li key={link} className="flex items-center gap-3 px-3 py-1.5 text-sm">
          <span className="min-w-0 flex-1">
            <span className="block truncate">{label}</span>
            <span className="block text-xs text-faint">
              expires {dateTimeText(expires)},{' '}
              {lastUsed === null ? 'never used' : `last used ${dateTimeText(lastUsed)}`}
            </span>
          </span>
          <Button
            small
            look="danger"
            aria-label={`Revoke the link for ${label}`}
            onClick={() => attempt(() => revoke(link), 'Revoked. Open pages are closed.')}
          >
            Revoke
          </Button>
        </li>
      ))}
    </ul>
  );
}
