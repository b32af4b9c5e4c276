class Storemark < Formula
  desc "{description}"
  homepage "{homepage}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]
{sources}

  def install
    bin.install "storemark"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/storemark.bash" => "storemark"
    zsh_completion.install "completions/storemark.zsh" => "_storemark"
    fish_completion.install "completions/storemark.fish"
    doc.install "README.md", "CHANGELOG.md", "docs"
  end

  test do
    system bin/"storemark", "run", "files:", "sqlite:", "--keys", "100", "--rounds", "6"
  end
end
