import { Download } from 'lucide-react';
import type { SessionSummary } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { CopyButton } from '@/components/ui/copy-button';
import { downloadFile } from '@/lib/download-file';
import { fileName } from '@/lib/file-name';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

/** A page cannot write to the user’s folders: the command that does, and the patch for git. */
export function ApplyToFolder({ session: { id, title } }: { session: SessionSummary }) {
  const patch = `${fileName(title)}.patch`;
  const save = () =>
    attempt(async () =>
      downloadFile(patch, (await client.sessions.patch(id)) as BlobPart, 'text/x-diff'),
    );
  return (
    <div className="space-y-5 text-sm">
      <section className="space-y-2">
        <h3 className="font-medium">With belay, on top of your own changes</h3>
        <CommandLine command={`belay patch ${id} --apply .`} />
        <p className="text-xs text-faint">
          Run it in your folder. Either everything is applied or nothing changes.
        </p>
      </section>
      <section className="space-y-2">
        <h3 className="font-medium">With git only</h3>
        <Button onClick={save}>
          <Download size={14} aria-hidden /> Download the patch
        </Button>
        <CommandLine command={`git apply ~/Downloads/${patch}`} />
      </section>
    </div>
  );
}

function CommandLine({ command }: { command: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border bg-sunken py-1 pr-1 pl-3">
      <code className="min-w-0 flex-1 font-mono text-xs break-all select-all">{command}</code>
      <CopyButton text={() => command} label="Copy the command" />
    </div>
  );
}
