/** Is in the home while a restore puts its files into place: what is there meanwhile is neither the old nor the new. */
export const restoreMarker = "restore-unfinished";
