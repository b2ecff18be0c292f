import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./incoming-workspaces.spec.js'));
