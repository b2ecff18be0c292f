import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./paths.attacks.spec.js'));
