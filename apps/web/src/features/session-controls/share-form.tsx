import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { errorFrom, dateTimeText, type SessionSummary } from '@belay/protocol';
import { Download } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { CopyText } from '@/components/ui/copy-text';
import { Failed } from '@/components/ui/empty';
import { Field, Input, Options, optionsOf, Select } from '@/components/ui/field';
import { queryClient } from '@/lib/query-client';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useSubmit } from '@/lib/use-submit';
import { shareSession } from './share-session';

/** The ways to share a session. */
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

const lifetimes = optionsOf({ 1: '1 day', 7: '7 days', 30: '30 days', 365: '1 year' });
const dayMs = 24 * 3_600_000;

function NewLink({ session: { id } }: { session: SessionSummary }) {
  const [label, setLabel] = useState('');
  const [days, setDays] = useState('7');
  const [address, setAddress] = useState('');
  const { saving, onSubmit } = useSubmit(async () => {
    const expires = new Date(Date.now() + Number(days) * dayMs).toISOString();
    const made = await client.viewerLinks.create(id, { label: label.trim(), expires });
    setAddress(location.origin + made.path);
    setLabel('');
    await queryClient.invalidateQueries({ queryKey: linksKey(id) });
    return 'again';
  });
  return (
    <>
      <form className="flex flex-wrap items-end gap-2" onSubmit={onSubmit}>
        <Field label="Recipient" className="min-w-36 flex-1">
          <Input
            required
            maxLength={100}
            value={label}
            onChange={({ target }) => setLabel(target.value)}
          />
        </Field>
        <Field label="Valid for" className="w-28">
          <Select value={days} onChange={({ target }) => setDays(target.value)}>
            <Options of={lifetimes} />
          </Select>
        </Field>
        <Button type="submit" look="solid" disabled={saving}>
          Create link
        </Button>
      </form>
      {address && (
        <div className="space-y-1" role="status">
          <CopyText label="Copy the link" text={address} />
          <p className="text-xs text-faint">
            The link is shown only once. Opening it logs the browser in as a viewer, so try it in
            another one.
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
      // Someone else has already revoked it.
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
