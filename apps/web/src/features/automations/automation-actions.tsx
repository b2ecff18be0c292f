import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { isForgeTrigger, urlBodyExample, type AutomationInfo } from '@belay/protocol';
import { MoreHorizontal } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { CopyText } from '@/components/ui/copy-text';
import { Dialog } from '@/components/ui/dialog';
import { IconButton } from '@/components/ui/icon-button';
import { Menu, type MenuItem } from '@/components/ui/menu';
import { askConfirm, askText, attemptConfirmed } from '@/lib/ask';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { automationsQuery } from './queries';

/** What an admin can do with an automation. */
export function AutomationActions({ automation }: { automation: AutomationInfo }) {
  const { name, state, definition } = automation;
  const readOnly = useReadOnlySettings();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<{ url: string; secret: string }>();
  if (readOnly) return null;
  const refresh = () => queries.invalidateQueries(automationsQuery);
  const change = (to: 'pause' | 'resume') =>
    attempt(async () => {
      await client.automations[to](name);
      await refresh();
    });
  const begin = (dry: boolean) =>
    attempt(async () => {
      const subject = await subjectOf(automation, dry);
      if (subject === null) return;
      const { run } = await client.automations.run(name, { ...subject, dry });
      await navigate({ to: '/automations/$name/runs/$run', params: { name, run: run.id } });
    });
  const renew = () =>
    attempt(async () => {
      const question = {
        title: 'Make a new secret?',
        text: 'Requests with the earlier one are no longer accepted.',
        verb: 'Make a new secret',
      };
      if (await askConfirm(question)) setSecret(await client.automations.secret(name));
    });
  const remove = () =>
    attemptConfirmed(
      {
        title: `Remove ${name}?`,
        text: 'It begins no more runs. Its sessions stay in the fleet.',
        verb: 'Remove',
        danger: true,
      },
      async () => {
        await client.automations.remove(name);
        await navigate({ to: '/automations' });
        await refresh();
      },
    );
  const items = (): (MenuItem | null)[] => [
    {
      label: isForgeTrigger(definition.on) ? 'Try without acting…' : 'Try without acting',
      run: () => begin(true),
    },
    ...('url' in definition.on ? [{ label: 'URL and new secret…', run: renew }] : []),
    null,
    { label: 'Remove…', danger: true, run: remove },
  ];
  return (
    <div className="flex shrink-0 items-center gap-2">
      {state === 'on' && <Button onClick={() => begin(false)}>Run now</Button>}
      {state === 'on' ? (
        <Button onClick={() => change('pause')}>Pause</Button>
      ) : (
        <Button onClick={() => change('resume')}>Switch on</Button>
      )}
      <Menu
        trigger={<IconButton label={`More for ${name}`} icon={MoreHorizontal} />}
        items={items}
      />
      {secret && (
        <SecretDialog {...secret} on={definition.on} onClose={() => setSecret(undefined)} />
      )}
    </div>
  );
}

interface SecretDialogProps {
  url: string;
  secret: string;
  on: AutomationInfo['definition']['on'];
  onClose(): void;
}

/** The only place where a secret is shown. */
function SecretDialog({ url, secret, on, onClose }: SecretDialogProps) {
  const body = JSON.stringify(urlBodyExample(on));
  return (
    <Dialog title="Call this automation" onClose={onClose}>
      <div className="space-y-2">
        <p className="text-sm text-muted">
          Send a JSON object with POST. The secret is shown only now.
        </p>
        <CopyText label="Copy URL" text={url} />
        <CopyText label="Copy secret" text={secret} />
        <CopyText
          label="Copy command"
          text={`curl -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '${body}' ${url}`}
        />
      </div>
    </Dialog>
  );
}

/** What a run by hand is about; null if the user cancels. */
async function subjectOf(
  { name, definition: { on } }: AutomationInfo,
  dry: boolean,
): Promise<{ number?: number } | null> {
  if (!isForgeTrigger(on)) return {};
  const text = await askText({
    title: dry ? `Try ${name} without acting` : `Run ${name}`,
    text: dry
      ? 'It decides as if its event had happened there, and does nothing.'
      : 'It runs as if its event had happened there.',
    label: 'Number of the issue or pull request',
    verb: dry ? 'Try' : 'Run',
  });
  if (text === null) return null;
  const number = Number(text.replace(/^[#!]/, ''));
  if (Number.isSafeInteger(number) && number > 0) return { number };
  throw new Error('Give the number of an issue or pull request, such as 12.');
}
