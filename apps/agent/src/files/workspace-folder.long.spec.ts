import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./workspace-folder.spec.js'));
