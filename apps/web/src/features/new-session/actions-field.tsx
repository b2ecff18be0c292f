import { useQuery } from '@tanstack/react-query';
import { permissionSentences } from '@belay/protocol';
import { actionsQuery } from '@/lib/queries';
import { NamesField, type ChosenNames } from './names-field';

/** The installed actions the session may use. */
export function ActionsField(chosen: ChosenNames) {
  const { data = [] } = useQuery(actionsQuery);
  const options = data
    .filter(({ kind, enabled }) => kind !== 'mcp' && enabled)
    .map(({ name, manifest }) => ({
      name,
      label: manifest.name_for_human,
      title: [manifest.description_for_human, ...permissionSentences(manifest)].join(' '),
    }));
  return <NamesField legend="Actions" options={options} {...chosen} />;
}
