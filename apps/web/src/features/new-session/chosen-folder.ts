import type { TarFile } from './pack-tar';
import type { UploadPlan } from './upload-plan';

/** A folder in the form, as it was read when the user chose it. */
export interface ChosenFolder {
  plan: UploadPlan;
  /** Leaves out the files that look like secrets. */
  withoutSecrets: boolean;
}

/** The files to send, without the history. */
export function chosenFiles({ plan, withoutSecrets }: ChosenFolder): TarFile[] {
  if (!withoutSecrets) return plan.files;
  const secrets = new Set(plan.secrets.map(({ path }) => path));
  return plan.files.filter(({ path }) => !secrets.has(path));
}
