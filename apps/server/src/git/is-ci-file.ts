/** Files that git hosts run, with access to secrets, as soon as they are pushed. */
export const isCiFile = (path: string): boolean => ciFiles.test(path);

const ciFiles =
  /^(?:\.(?:github|gitea|forgejo)\/(?:workflows|actions)\/|\.circleci\/|\.woodpecker(?:\/|\.ya?ml$)|\.buildkite\/|(?:.*\/)?\.gitlab-ci\.yml$|\.gitlab\/ci\/|(?:.*\/)?Jenkinsfile$|\.travis\.yml$|\.drone\.ya?ml$|azure-pipelines\.ya?ml$|bitbucket-pipelines\.yml$|\.cirrus\.yml$)/i;
