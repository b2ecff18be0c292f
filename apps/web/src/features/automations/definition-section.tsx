import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { dateTimeText, type AutomationInfo } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Disclosure } from '@/components/ui/disclosure';
import { Form } from '@/components/ui/form';
import { QueryState } from '@/components/ui/query-state';
import { downloadFile } from '@/lib/download-file';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import type { Submitted } from '@/lib/use-submit';
import { DefinitionEditor } from './definition-editor';
import { automationsQuery, definitionQuery, versionsQuery } from './queries';

/** The definition as YAML: to read, to change, and to take along. */
export function DefinitionSection({ automation }: { automation: AutomationInfo }) {
  const { name, version, file } = automation;
  const text = useQuery(definitionQuery(name, version));
  return (
    <div className="space-y-4">
      <QueryState query={text} what="the definition" />
      {file !== null && (
        <p className="text-sm text-muted">
          It comes from {file}: change it there, on the default branch.
        </p>
      )}
      {text.data !== undefined && (
        <Editor key={version} name={name} text={text.data} isFile={file !== null} />
      )}
      <Versions automation={automation} />
    </div>
  );
}

function Editor({ name, text, isFile }: { name: string; text: string; isFile: boolean }) {
  const readOnly = useReadOnlySettings() || isFile;
  const queries = useQueryClient();
  const [edited, setEdited] = useState(text);
  const save = async (): Promise<Submitted> => {
    const { version } = await client.automations.edit(name, { text: edited });
    await queries.invalidateQueries(automationsQuery);
    toast(`Saved as version ${version}.`);
    return 'again';
  };
  const download = (
    <Button look="ghost" onClick={() => downloadFile(`${name}.yaml`, text, 'application/yaml')}>
      Download
    </Button>
  );
  if (readOnly)
    return (
      <>
        <DefinitionEditor text={text} onChange={() => undefined} readOnly />
        {download}
      </>
    );
  return (
    <Form
      label="Definition"
      submit="Save"
      submitting="Saving…"
      disabled={edited === text}
      onSubmit={save}
      aside={download}
    >
      <DefinitionEditor text={edited} onChange={setEdited} />
    </Form>
  );
}

function Versions({ automation: { name, version } }: { automation: AutomationInfo }) {
  const versions = useQuery({ ...versionsQuery(name, version), enabled: version > 1 });
  if (!versions.data) return null;
  return (
    <Disclosure title="Earlier versions">
      <ol className="mt-2 space-y-2 text-sm">
        {versions.data.slice(1).map((one) => (
          <li key={one.version}>
            <Disclosure title={`Version ${one.version}, ${dateTimeText(one.at)}, by ${one.by}`}>
              <pre className="mt-1 overflow-auto rounded-md border bg-sunken p-2 font-mono text-xs">
                {one.text}
              </pre>
            </Disclosure>
          </li>
        ))}
      </ol>
    </Disclosure>
  );
}
