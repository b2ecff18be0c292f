import { useState } from 'react';
import type { FoundActions } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { client } from '@/lib/server';
import { useBusy } from '@/lib/use-busy';
import { InstallLog } from './install-log';
import { Offers } from './offers';
import { useInstall } from './use-install';

interface InstallFormProps {
  /** The actions to offer right away, for an update. */
  found?: FoundActions;
  onClose(): void;
}

/** The steps of an install: the address, the actions found there with permissions, and the log. */
export function InstallForm({ found: given, onClose }: InstallFormProps) {
  const [address, setAddress] = useState('');
  const [found, setFound] = useState(given);
  const { job, begin, cancel } = useInstall();
  const look = async () => setFound(await client.actions.find(sourceOf(address.trim())));
  const { busy, run } = useBusy();
  const lookAtExamples = async () => setFound(await client.actions.findExamples());
  return (
    <section aria-label="Install action" className="space-y-3 rounded-md border bg-panel p-4">
      {!found && (
        <Form
          submit="Find actions"
          submitting="Looking…"
          disabled={address.trim() === ''}
          onSubmit={look}
          onCancel={onClose}
          aside={
            <Button small className="ml-auto" disabled={busy} onClick={() => run(lookAtExamples)}>
              Show the examples
            </Button>
          }
        >
          <TextField
            label="Repository"
            hint="user/repo of GitHub or the URL of a git repository; @version chooses a branch, a tag or a commit. To install a folder, use belay actions install."
            value={address}
            onChange={setAddress}
            placeholder="user/repo@v1"
            autoFocus
            spellCheck={false}
          />
        </Form>
      )}
      {found && !job && (
        <Offers
          found={found}
          onInstall={(names) => void begin(found.id, names)}
          onCancel={given ? onClose : () => setFound(undefined)}
        />
      )}
      {job && <InstallLog job={job} onStop={cancel} onClose={onClose} />}
    </section>
  );
}

/** `@version` follows the last slash of an address; a user name does not. */
function sourceOf(address: string): { from: string; version: string | null } {
  const [, from, version] = /^(.*\/[^@/]+)@([^@]+)$/.exec(address) ?? [];
  return from === undefined || version === undefined
    ? { from: address, version: null }
    : { from, version };
}
