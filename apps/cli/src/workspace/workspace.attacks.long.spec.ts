import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./workspace.attacks.spec.js'));
