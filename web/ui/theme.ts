// The few colours that pictures need by value: they are copied into exported files, where the style sheet is not at hand.

export interface Theme {
  paper: string;
  ink: string;
  soft: string; // secondary text
  line: string; // grid
  stripe: string; // empty cells
  accent: string;
  warn: string;
}

const light: Theme = {
  paper: "#ffffff", ink: "#1b1f24", soft: "#5d6670", line: "#d9dee3", stripe: "#f5f7f9", accent: "#0b62b8", warn: "#b23c00",
};
const dark: Theme = {
  paper: "#14171b", ink: "#e6e9ec", soft: "#98a2ad", line: "#2f353c", stripe: "#1b1f24", accent: "#6cb2ff", warn: "#ff9d66",
};

export const darkQuery = window.matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
  return darkQuery.matches ? dark : light;
}
